"""The answers to jobs that waited, in the environments of their children."""

import json
import re
from typing import Any

import pytest

from e2e.conftest import Weft, until
from weft import Client
from weft.cli.input.options import WrongOption

pytestmark = pytest.mark.slow
TELL = "printenv WEFT_ANSWERS || echo none"
WAIT = {"wait": {"for": "approval"}}


def answers_of(weft: Weft, job: str) -> Any:  # noqa: ANN401 (an answer may be any document)
    """Return what the last attempt of a job was told, when it has ended."""
    weft.run("wait", job)
    return json.loads(weft.told("logs", job))


def test_a_job_finds_the_answers_to_its_parents(weft: Weft) -> None:
    """Each by the name of the parent, unless two have the same; commands, arrays and functions."""
    function = {"call": "os:system", "args": [TELL]}
    batch = weft.submit(
        {"name": "look", **WAIT},
        {"name": "twin", **WAIT},
        {"name": "twin", **WAIT},
        WAIT,
        {"script": TELL, "parents": [1, 2, 3, 4]},
        {"script": TELL, "parents": [1], "count": 2},
        {"function": function, "parents": [1]},
        {"script": TELL, "parents": [5]},
    )
    assert re.fullmatch(
        rb"http\S+/ui/answer\?code=\S+\n", weft.told("answer", f"{batch}.j1", "--link")
    )
    for wrong in (("--valid", "1h"), ("--link", "--refuse"), ("--link", "--set", "n=1")):
        assert weft.run("answer", f"{batch}.j1", *wrong).returncode == WrongOption.exit_code
    for words in (
        ("answer", f"{batch}.j1", "--link", "--valid", "366d"),
        ("token", "create", "t", "--expires", "3661d"),
        ("worker", "invite", "--expires", "0"),
        ("run", "--or-replace", "--", "true"),
    ):
        assert re.search(rb"from 1s to (365|1|3660)d|goes with `--unique", weft.run(*words).stderr)
    for job in (1, 2, 3, 4):
        weft.told("answer", f"{batch}.j{job}", "--set", f"n={job}", "--note", "a $WEFT_JOB ü")
    found = answers_of(weft, f"{batch}.j5")
    assert {name: one["values"]["n"] for name, one in found.items()} == {
        "look": 1,
        "j2": 2,
        "j3": 3,
        "j4": 4,
    }
    assert set(found["look"]) == {"values", "note", "by", "at"}
    assert found["look"]["note"] == "a $WEFT_JOB ü"
    alone = {"look": found["look"]}
    assert [answers_of(weft, f"{batch}.j{n}") for n in (6, 7, 8)] == [alone] * 3
    weft.told("wait", batch)
    assert weft.told("logs", f"{batch}.j9") == b"none\n"


def test_a_job_that_runs_again_is_told_the_same_and_a_late_answer_counts(weft: Weft) -> None:
    """What a later request adds to the batch is told, too; too many bytes are told in words."""
    fails = f"{TELL}; test $WEFT_ATTEMPT_NO = 2"
    batch = weft.submit(
        {"name": "look", "wait": {"for": "event"}},
        {"script": fails, "parents": [1]},
        {"name": "more", "wait": {"for": "event"}},
        {"script": TELL, "parents": [1, 3]},
    )
    weft.told("answer", f"{batch}.j1", "--refuse")
    assert weft.run("wait", f"{batch}.j2").returncode == 1
    weft.told("retry", batch)
    for job in (1, 3):
        weft.told("answer", f"{batch}.j{job}", "--set", f"n={job}", "--set", "x=" + "x" * 60_000)
    first = answers_of(weft, f"{batch}.j2")
    weft.told("retry", f"{batch}.j2")
    second = ("logs", f"{batch}.j2", "--attempt", "2")
    until(lambda: weft.run(*second).stdout == weft.told("logs", *second[1:-1], "1"))
    assert first["look"]["values"]["n"] == 1
    with Client(home=weft.home) as client:
        later = client.update_batch(int(batch[1:]))
        later.create_job(["sh", "-c", TELL], parents=[client.get_batch(int(batch[1:])).get_job(1)])
        later.submit()
    assert answers_of(weft, f"{batch}.j5") == first
    assert weft.run("wait", f"{batch}.j4").returncode == 1
    assert b"have 120" in weft.told("status", f"{batch}.j4")
