"""The minder of services, with real processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cases import cases
from web_server import Answer, Question, web_server
from weft.plugins.executors.process import minder

SOON: dict[str, Any] = {"every_s": 0.1, "timeout_s": 0.5, "failures": 3}


@contextmanager
def minded(plan: dict[str, Any], *command: str) -> Iterator["subprocess.Popen[str]"]:
    """Start it as a worker does: first of a process group."""
    with subprocess.Popen(
        [sys.executable, "-I", minder.__file__, json.dumps(plan), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        env={"PATH": "/usr/bin:/bin", "WEFT_GRACE_S": "0.3"},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(plan: dict[str, Any], *command: str) -> tuple[int, str]:
    with minded(plan, *command) as process:
        _, said = process.communicate(timeout=60)
        return process.returncode, said


@cases(
    ("plan", "script", "code", "said"),
    [
        ({}, "exit 0", 75, "it ended with exit code 0"),
        ({"restart": "on_failure"}, "exit 0", 0, ""),
        ({"restart": "on_failure"}, "exit 3", 3, ""),
        ({"health": {**SOON, "command": ["true"]}}, "exit 4", 4, ""),
        ({}, "kill -KILL $$", 128 + 9, "killed by SIGKILL"),
    ],
)
def test_exit_code_tells_how_it_ended(
    plan: dict[str, Any], script: str, code: int, said: str
) -> None:
    found = ended(plan, "sh", "-c", script)
    assert found[0] == code
    assert said in found[1]


def test_program_that_is_not_there() -> None:
    assert ended({}, "no-such-program") == (
        127,
        "weft: no-such-program cannot be started: No such file or directory\n",
    )


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("check", "why"),
    [
        (["sh", "-c", "exit 5"], "the check ended with exit code 5"),
        (["sleep", "60"], "the check took more than 0.5 s"),
        (["no-such-check"], "the check cannot be started"),
    ],
)
def test_unhealthy_program_is_ended(check: list[str], why: str) -> None:
    """Also one that takes no notice of SIGTERM."""
    program = ["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"]
    code, said = ended({"health": {**SOON, "command": check}}, *program)
    assert code == minder.UNHEALTHY
    for n, line in enumerate(said.splitlines(), 1):
        assert line.startswith(f"weft: unhealthy, {n} of 3: {why}")


def test_failures_count_in_a_row(tmp_path: Path) -> None:
    """One good answer between them, and it goes on."""
    check = f"echo >> {tmp_path}/n; [ $(($(wc -l < {tmp_path}/n) % 3)) = 0 ]"
    health = {**SOON, "command": ["sh", "-c", check]}
    with minded({"health": health}, "sleep", "60") as process:
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(6)]
        assert [line.split()[1] for line in said] == ["unhealthy,", "unhealthy,", "healthy"] * 2


def test_stop_is_an_end(tmp_path: Path) -> None:
    """Weft signals the group; what ends well then is not started again by itself."""
    script = f"trap 'exit 0' TERM; touch {tmp_path}/up; while :; do sleep 0.05; done"
    health = {**SOON, "command": ["test", "-e", f"{tmp_path}/up"]}
    with minded({"health": health}, "sh", "-c", script) as process:
        assert process.stderr is not None
        while "weft: healthy" not in process.stderr.readline():
            pass
        assert os.getpgid(process.pid) == process.pid != os.getpgid(0)
        os.killpg(process.pid, signal.SIGTERM)
        assert process.wait(60) in {0, 128 + signal.SIGTERM}


def test_address_is_asked() -> None:
    def answer(asked: Question) -> Answer:
        return Answer(status=204 if asked.path == "/ready?full=1" else 503)

    with web_server(answer) as url:
        assert minder.wrong({"http": f"{url}/ready?full=1"}) == ""
        assert minder.wrong({"http": f"{url}/ready"}) == "it answers with 503"
    assert "127.0.0.1" in minder.wrong({"http": f"{url}/ready"})
