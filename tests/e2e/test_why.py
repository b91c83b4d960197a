"""`weft why`: each cause on a real server, and that the command that it prints changes it."""

import json
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Weft, lines, until
from e2e.test_batches import submit

pytestmark = pytest.mark.heavy
HOST = socket.gethostname()


def causes(weft: Weft, target: str) -> list[dict[str, Any]]:
    """Return what the server says of a target."""
    answer = weft.run("why", target, "--json")
    assert answer.returncode == 0, answer.stderr
    found: list[dict[str, Any]] = json.loads(answer.stdout)["causes"]
    return found


def kinds(weft: Weft, target: str) -> list[str]:
    return [one["kind"] for one in causes(weft, target)]


def do(weft: Weft, command: str) -> None:
    """Run a command as it was printed."""
    program, *arguments = shlex.split(command)
    assert program == "weft"
    done = weft.run(*arguments)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def cordoned(weft: Weft) -> Iterator[None]:
    """Let the only worker take no jobs."""
    weft.run("worker", "cordon", HOST)
    yield
    weft.run("worker", "uncordon", HOST)


@pytest.mark.usefixtures("cordoned")
def test_the_printed_commands_let_a_job_run(weft: Weft, tmp_path: Path) -> None:
    """A held job on a cordoned worker: both causes are there, and both commands help."""
    batch = submit(
        weft, tmp_path, "jobs: [{command: ['true']}, {command: ['true'], parents: [1]}]"
    )
    weft.run("hold", batch)
    held, stopped = causes(weft, f"{batch}.j1")
    printed = lines(weft.run("why", f"{batch}.j1").stdout)
    of_child = kinds(weft, f"{batch}.j2")
    of_batch = kinds(weft, batch)
    do(weft, held["command"])
    after = kinds(weft, f"{batch}.j1")
    do(weft, stopped["command"])
    ended = weft.run("wait", batch)

    assert (held["kind"], stopped["kind"]) == ("hold", "cordoned")
    assert printed == [
        f"{batch}.j1 waits: {batch} is held",
        f"  weft release {batch}",
        f"{batch}.j1 waits for a worker: {HOST} is cordoned",
        f"  weft worker uncordon {HOST}",
    ]
    assert of_child == ["parent", "hold", "cordoned"]
    assert of_batch == ["hold", "cordoned", "parent"]
    assert after == ["cordoned"]
    assert ended.returncode == 0
    assert kinds(weft, f"{batch}.j1") == ["success"]
    assert kinds(weft, batch) == ["ended"]


def test_what_became_of_a_job_in_two_lines(weft: Weft, tmp_path: Path) -> None:
    batch = submit(
        weft,
        tmp_path,
        """
jobs:
  - {command: [sh, -c, 'echo a >&2; echo last words >&2; exit 3']}
  - {command: ['true'], parents: [1]}
""",
    )
    weft.run("wait", batch)
    failed, stderr = causes(weft, f"{batch}.j1")
    (cancelled,) = causes(weft, f"{batch}.j2")
    of_batch = causes(weft, batch)

    assert failed["text"].startswith(f"failed on {HOST} after ")
    assert failed["text"].endswith(": exit code 3")
    assert stderr["text"] == "wrote last to stderr: last words"
    assert cancelled["text"] == (
        f"was cancelled, because its parent {batch}.j1 did not succeed: failed"
    )
    assert cancelled["command"] == f"weft why {batch}.j1"
    assert [one["text"] for one in of_batch] == [
        f"has 1 job that failed, as {batch}.j1: exit code 3"
    ]


def test_what_a_job_does_that_runs(weft: Weft, tmp_path: Path) -> None:
    batch = submit(
        weft, tmp_path, "jobs: [{command: [sh, -c, 'echo on; sleep 4321'], timeout_s: 4000}]"
    )
    with weft.started("logs", "-f", f"{batch}.j1") as follow:
        assert follow.stdout.readline() == b"on\n"
        runs, limit = causes(weft, f"{batch}.j1")
        of_batch = causes(weft, batch)
    weft.run("cancel", batch)

    assert runs["text"].startswith(f"runs on {HOST} since ")
    assert limit["text"].startswith("has a time limit of 1:06:40: ")
    assert [one["text"] for one in of_batch] == ["runs 1 of 1 job"]


CAUSES = {
    "parent": ("{parents: [1]}", "waits for its parent {b}.j1: {b}.j1 runs"),
    "not_before": ("{not_before: '2099-01-01T00:00:00Z'}", "starts at 2099-01-01 00:00 UTC"),
    "concurrency_key": (
        "{concurrency_key: {key: why, n: 1}}",
        'waits for {b}.j1, which has the key "why"',
    ),
    "deadline": ("{deadline: '2020-01-01T00:00:00Z'}", "ended in an error: deadline passed"),
}
"""What a job of the batch has, and what is said of it; the first job runs, with the key."""


def test_each_cause_is_told(weft: Weft, tmp_path: Path) -> None:
    runs = "{command: [sh, -c, 'echo on; sleep 4321'], concurrency_key: {key: why, n: 1}}"
    jobs = [f"  - {has[:-1]}, command: ['true']}}" for has, _ in CAUSES.values()]
    text = "jobs:\n" + "\n".join([f"  - {runs}", *jobs])
    batch = submit(weft, tmp_path, text)
    with weft.started("logs", "-f", f"{batch}.j1") as follow:
        assert follow.stdout.readline() == b"on\n"
        until(lambda: kinds(weft, f"{batch}.j5") == ["error"])  # the driver ends it
        found = {number: causes(weft, f"{batch}.j{number}")[0] for number in range(2, 6)}
    weft.run("cancel", batch)

    for number, (kind, (_, expected)) in enumerate(CAUSES.items(), 2):
        assert found[number]["text"].startswith(expected.format(b=batch)), (kind, found[number])
