"""Bounds of a question: time, memory, and what becomes of processes that do not begin."""

import asyncio
import contextlib
import json

from hybrid.explorer.jobs import Jobs
from tests.hybrid.explorer.test_server import ROD, SLOW


async def answer(jobs, question, client="somebody"):
    return [json.loads(line) async for line in jobs.answer(client, json.dumps(question).encode())]


def asked(jobs, *questions, seconds=None):
    """The answers one after the other, those behind the first with another limit of time."""

    async def run():
        jobs.start()
        with contextlib.closing(Closing(jobs)):
            answers = [await answer(jobs, questions[0])]
            jobs.seconds = seconds or jobs.seconds
            return answers + [await answer(jobs, question) for question in questions[1:]]

    return asyncio.run(run())


class Closing:
    def __init__(self, jobs):
        self.close = jobs.stop


def test_a_question_that_takes_too_long_is_ended_and_the_next_one_answered():
    slow, quick = {**SLOW, "cells": 400}, {"kind": "declaration", "text": ROD}
    late, next_one = asked(Jobs(count=1, seconds=0.3), slow, quick, seconds=60.0)  # a busy machine is never quick
    assert late[-1]["error"]["kind"] == "time"
    assert "0.3 s" in late[-1]["error"]["message"]
    assert next_one[-1]["declaration"]["name"] == "rod_on_incline"


def test_a_process_that_died_while_it_was_idle_leaves_no_question_unanswered():
    async def run():
        jobs, quick = Jobs(count=1), {"kind": "declaration", "text": ROD}
        jobs.start()
        with contextlib.closing(Closing(jobs)):
            before = await answer(jobs, quick)
            (hand,) = jobs._hands
            hand.process.kill()
            hand.process.join()  # and nothing has been heard of it yet
            return before, await answer(jobs, quick)

    before, after = asyncio.run(run())
    assert before == after
    assert after[-1]["declaration"]["name"] == "rod_on_incline"


def test_processes_without_memory_are_not_begun_for_ever():
    (found,) = asked(Jobs(count=1, memory=1 << 22), {"kind": "declaration", "text": ROD})
    assert found[-1]["error"]["kind"] == "memory"


def test_what_a_question_breaks_is_said_and_no_process_is_lost():
    jobs = Jobs(count=1)
    broken = {"kind": "look", "text": ROD, "pins": {"phi": "1/0", "phi_dot": "0", "slip.tip": "0"}}
    first, second = asked(jobs, broken, {"kind": "look", "text": ROD, "pins": {"nothing": "1"}})
    assert first[-1]["error"]["kind"] in ("input", "declaration")
    assert "unknown pin 'nothing'" in second[-1]["error"]["message"]
