"use strict";
/* Where answers come from: the server that sent this page, or tables that an offline page carries. */
painleve.backend = (() => {
  const tables = document.getElementById("tables");
  const offline = tables ? JSON.parse(tables.textContent) : null;
  const client = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  let token = "";

  class Refused extends Error {
    constructor(error) {
      super(error.message);
      this.kind = error.kind;
      this.problems = error.problems || [];
    }
  }

  async function post(path, question, signal) {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-painleve-token": token },
      body: JSON.stringify(question),
      signal,
      cache: "no-store",
      credentials: "omit",
    });
    if (!answer.ok) {
      let error = { kind: "refused", message: "the server answered with status " + answer.status };
      try { error = (await answer.json()).error || error; } catch (_) { /* not from this server */ }
      throw new Refused(error);
    }
    return answer;
  }

  /* Every part of an answer goes to `heard` as it comes. */
  async function ask(question, heard, signal) {
    if (offline) return painleve.offline.answer(offline, question, heard);
    const answer = await post("/compute?client=" + client, question, signal);
    const reader = answer.body.getReader(), decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      rest += decoder.decode(value || new Uint8Array(), { stream: !done });
      const lines = rest.split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const part = JSON.parse(line);
        if (part.error) throw new Refused(part.error);
        heard(part);
      }
      if (done) return;
    }
  }

  async function begin(given) {
    token = given;
    return offline ? offline.begin : (await post("/begin", {})).json();
  }

  return { ask, begin, Refused, isOffline: Boolean(offline), get token() { return token; } };
})();
