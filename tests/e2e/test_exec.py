"""`weft exec`, as a user runs it beside a job."""

import json
import re
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.conftest import Weft, kill_api, until
from e2e.terminal import Terminal, on_terminal, script_of
from weft import Client
from weft.client.http.exec_calls import ExecLost
from weft.extensions.exec.command import NoTerminal
from worker.spawner_process import marked

pytestmark = pytest.mark.heavy


def test_command_runs_beside_a_job(weft: Weft, tmp_path: Path) -> None:
    data = bytes(range(256)) * 20_000
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        job = bb.create_job(["sleep", "1000"], env={"X": "y"})
        batch = bb.submit()
        until(lambda: job.status()["started_at"] is not None)
        name = f"b{batch.id}.j1"
        copied = weft.run("exec", name, "--", "sh", "-c", "cat; echo $X >&2; exit 3", stdin=data)
        unread = job.exec(["true"], stdin=data)
        large = job.exec(["head", "-c", "100000000", "/dev/zero"])
        begun = tmp_path / "begun"
        words = ("exec", "-n", name, "--", "sh", "-c", f"touch {begun}; sleep 1000")
        for number in (signal.SIGINT, signal.SIGKILL):
            with weft.started(*words) as running:
                until(begun.exists)
                running.send_signal(number)
                running.wait(60)
            assert running.returncode == (130 if number == signal.SIGINT else -number)
            until(lambda: not marked("WEFT_EXEC="))
            begun.unlink()
        trail = json.loads(weft.run("trail", "--json").stdout)
        with weft.started(*words) as running:
            until(begun.exists)
            kill_api(weft)
            running.wait(60)
        assert running.returncode == ExecLost.exit_code
        until(lambda: not marked("WEFT_EXEC="))
        batch.cancel()  # by the next api: other tests need it

    assert (copied.stdout, copied.stderr, copied.returncode) == (data, b"y\n", 3)
    assert (unread.exit_code, len(large.stdout)) == (0, 100_000_000)
    assert f"/v1/batches/{batch.id}/jobs/1/exec true" in {one["path"] for one in trail}


@pytest.fixture
def sleeping(weft: Weft) -> Iterator[str]:
    """Give the name of a job that runs."""
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        job = bb.create_job(["sleep", "1000"])
        batch = bb.submit()
        until(lambda: job.status()["started_at"] is not None)
        yield f"b{batch.id}.j1"
        batch.cancel()


@contextmanager
def shell(weft: Weft, name: str, script: str = "") -> Iterator[Terminal]:
    """Give a shell beside a job, once it asks for a line."""
    words = ("exec", "-t", name, "--", "env", "PS1=line:", "sh", *(("-c", script) * bool(script)))
    with on_terminal(script_of(*words), weft.environment()) as terminal:
        termios.tcsetwinsize(terminal.master, (33, 101))
        terminal.until("line:")
        yield terminal


def test_command_has_a_terminal(weft: Weft, sleeping: str) -> None:
    refused = weft.run("exec", "-t", sleeping, "--", "sh", stdin=b"")
    with shell(weft, sleeping) as terminal:
        terminal.type("ps -o tty= -p $$; tty; echo is $TERM\r")
        facts = terminal.until("is xterm-256color")
        terminal.until("line:")
        terminal.type("sleep 1000\r")
        until(lambda: len(marked("WEFT_EXEC=")) > 1)
        terminal.type("\x03")
        terminal.until("line:")
        terminal.type("until stty size | grep ^44; do sleep 0.1; done; exit 7\r")
        termios.tcsetwinsize(terminal.master, (44, 77))
        terminal.process.send_signal(signal.SIGWINCH)
        terminal.until("\r\n44 77")
        code, mode = terminal.finish(), termios.tcgetattr(terminal.master)

    assert refused.returncode == NoTerminal.exit_code
    assert b"Standard input is not a terminal." in refused.stderr
    assert re.search(r"\r\n(pts/\d+) *\r\n/dev/\1\r\n", facts)
    assert code == 7
    assert mode[3] & termios.ICANON


DEAF = "trap '' HUP TERM INT; printf line:; sleep 1000; sleep 1000"


@pytest.mark.parametrize("script", ["", DEAF], ids=["shell", "deaf"])
def test_command_ends_with_its_terminal(weft: Weft, sleeping: str, script: str) -> None:
    """However the client ends, the terminal is as it was, and nothing is left of the command."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL):
        with shell(weft, sleeping, script) as terminal:
            assert not termios.tcgetattr(terminal.master)[3] & termios.ICANON
            terminal.process.send_signal(number)
            code, mode = terminal.finish(), termios.tcgetattr(terminal.master)
        assert code == (-number if number == signal.SIGKILL else 128 + number)
        assert bool(mode[3] & termios.ICANON) == (number != signal.SIGKILL)
        until(lambda: not marked("WEFT_EXEC="))
    with shell(weft, sleeping, script) as terminal:
        kill_api(weft)
        code, mode = terminal.finish(), termios.tcgetattr(terminal.master)
    assert (code, bool(mode[3] & termios.ICANON)) == (ExecLost.exit_code, True)
    until(lambda: not marked("WEFT_EXEC="))
