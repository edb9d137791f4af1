"""A running explorer for tests, spoken to as its page does."""

import contextlib
import http.client
import json
import signal
import subprocess
import sys

from jsonschema import Draft202012Validator

from hybrid.cli.schemas import answer_schema


class Explorer:
    """A running explorer, spoken to as its page does."""

    def __init__(self, *arguments):
        command = [sys.executable, "-m", "hybrid", "explore", "--no-browser", "--json", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = []
        while not lines or lines[-1].strip() != "}":
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            lines.append(line)
        said = json.loads("".join(lines))
        Draft202012Validator(answer_schema("explore")).validate(said)
        self.port, self.token = said["port"], said["address"].partition("token=")[2]

    def request(self, question, client, *, path="/compute"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"content-type": "application/json", "x-painleve-token": self.token}
        connection.request("POST", f"{path}?client={client}", json.dumps(question), headers)
        return connection, connection.getresponse()

    def ask(self, question, client="somebody-1"):
        connection, response = self.request(question, client)
        with contextlib.closing(connection):
            assert response.status == 200, response.read()
            return [json.loads(line) for line in response.read().splitlines()]

    def stop(self):
        return self.end(signal.SIGINT)

    def end(self, number):
        self.process.send_signal(number)
        _, self.said = self.process.communicate(timeout=10)
        return self.process.returncode
