"""A real weft, started once for these tests as a user starts it, and the command line that talks
to it.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx
import pytest

from e2e.warm_commands import run_warm

WITHIN_S = 60
PROGRAM = (sys.executable, "-m", "weft.cli")
STARTED = ("up", "down", "api", "driver", "worker", "doctor", "-V", "--version")
"""Commands that start processes, or whose own start is looked at."""
AT_START = ("PYTHON", "LC_", "LANG", "TZ")


class Started(subprocess.Popen[bytes]):
    """A command that runs, whose streams are pipes."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]


@dataclass(frozen=True)
class Weft:
    """The command line on one home."""

    home: Path

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        return {**os.environ, "WEFT_HOME": str(self.home), **(more or {})}

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float = 60,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run one command to its end. No input is an empty one, never that of the tests.

        It is really started if it is about processes, or what an interpreter begins with.
        """
        begins_otherwise = any(name.startswith(AT_START) for name in env or {})
        if arguments[:1] and arguments[0] not in STARTED and not begins_otherwise:
            return run_warm(arguments, self.environment(env), cwd, timeout_s, stdin or b"")
        return subprocess.run(
            [*PROGRAM, *arguments],
            check=False,
            capture_output=True,
            cwd=cwd,
            env=self.environment(env),
            timeout=timeout_s,
            input=stdin or b"",
        )

    def told(self, *arguments: str, **options: Any) -> bytes:  # noqa: ANN401 (as `run`)
        """Run one command that ends well; return what it prints."""
        done = self.run(*arguments, **options)
        assert done.returncode == 0, (done.stdout + done.stderr).decode()
        return done.stdout

    def submit(self, *jobs: Mapping[str, object], **fields: object) -> str:
        """Submit jobs; return the name of their batch."""
        document = json.dumps({"jobs": jobs, **fields}).encode()
        return self.told("submit", "-", "--format", "json", stdin=document).decode().strip()

    @contextmanager
    def started(
        self, *arguments: str, stdin: int = subprocess.DEVNULL, cwd: Path | None = None
    ) -> Iterator[Started]:
        """Start one command and leave it running; at the end it is killed if it still is."""
        with Started(
            [*PROGRAM, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=self.environment(),
        ) as process:
            try:
                yield process
            finally:
                process.kill()


@contextmanager
def weft_up(home: Path, *options: str, **settings: str) -> Iterator[Weft]:
    """Start a weft in a home, with these settings; at the end it is down."""
    found = Weft(home)
    found.told("up", "--port", "0", "--detach", *options, env=settings, timeout_s=300)
    try:
        yield found
    finally:
        found.told("down", timeout_s=120)


@pytest.fixture(scope="session")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weft]:
    """Give a weft that is up."""
    home = tmp_path_factory.mktemp("home")
    with weft_up(home, WEFT_INPUT_PRIVATE_HOSTS="127.0.0.2") as found:
        yield found


@pytest.fixture
def http(weft: Weft) -> Iterator[httpx.Client]:
    """Give a client of the weft, as its owner."""
    known = json.loads((weft.home / "client.json").read_text())
    headers = {"authorization": f"Bearer {known['token']}"}
    with httpx.Client(base_url=known["url"], headers=headers, timeout=30) as client:
        yield client


def lines(text: bytes) -> Sequence[str]:
    """Return the lines of what a command printed."""
    return text.decode().splitlines()


def kill_api(weft: Weft) -> None:
    """Send SIGKILL to the api; its supervisor starts it again."""
    ready = json.loads((weft.home / "run" / "api.ready").read_text())
    os.kill(ready["pid"], signal.SIGKILL)


def until(is_so: Callable[[], bool]) -> None:
    """Wait for a fact of which no event tells. To look takes a third of the time at most."""
    never, begun = threading.Event(), time.monotonic()
    while (looked := time.monotonic()) < begun + WITHIN_S:
        if is_so():
            return
        never.wait(max(0.02, 2 * (time.monotonic() - looked)))
    raise AssertionError(is_so)


def items(weft: Weft) -> dict[str, str]:
    done = weft.run("source", "items", "scenes", "--json")
    return {one["key"]: one["job"] or one["state"] for one in json.loads(done.stdout or "[]")}


def as_json(weft: Weft, *arguments: str) -> Any:  # noqa: ANN401 (any document)
    done = weft.run(*arguments, "--json")
    assert done.returncode in {0, 1}, done.stderr
    return json.loads(done.stdout)
