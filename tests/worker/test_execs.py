"""Commands beside running jobs: in their place, and no longer than they or the client."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from weft.core.states import Reason
from weft.wire.exec import BYTES_MAX, Begin, Begun, Ended, Refused
from weft.worker.spawner import entry
from worker.spawner_process import (
    DEADLINE_S,
    Agent,
    SpawnerProcess,
    key_of,
    marked,
    process,
    until_gone,
)
from worker.test_sandbox import BECOME_PLAIN, PLAIN_USER


class Exec:
    """A command as an api begins it, with one pipe for all that it writes."""

    def __init__(self, path: Path, begin: Begin, stdin: bytes) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(DEADLINE_S)
        self.socket.connect(str(path))
        self.output, written = os.pipe()
        given = os.memfd_create("stdin")
        os.pwrite(given, stdin, 0)
        socket.send_fds(self.socket, [msgspec.msgpack.encode(begin)], [given, written, written])
        os.close(given)
        os.close(written)

    def answer(self) -> Begun | Ended | Refused:
        """Return the next packet."""
        data = self.socket.recv(BYTES_MAX)
        return msgspec.msgpack.decode(data, type=Begun | Ended | Refused)


def until_none_is_left(agent: Agent) -> None:
    """Wait until no process of a command lives, nor one that it has started meanwhile."""
    while left := marked("WEFT_EXEC=") & marked(f"@{agent.welcome.incarnation}"):
        until_gone(*left)


Begins = Callable[..., Exec]


@pytest.fixture
def begin(agent: Agent, spawner: SpawnerProcess, tmp_path: Path) -> Iterator[Begins]:
    """Give what begins a command beside one of two long jobs."""
    one = process(1, "sleep", "1000", cwd=str(tmp_path), env={"X": "ä"})
    agent.start(one, process(2, "sleep", "1000"))
    agent.until_started(1)
    agent.until_started(2)
    begun: list[Exec] = []

    def begin(
        *argv: str,
        job_id: int = 1,
        database: str = "logs",
        job_max: int = 2,
        stdin: bytes = b"",
        tenant_id: int = 1,
    ) -> Exec:
        message = Begin(key_of(job_id), database, argv, job_max, tenant_id)
        begun.append(Exec(spawner.root / "s.sock.exec", message, stdin))
        return begun[-1]

    yield begin
    for command in begun:
        command.socket.close()
    until_none_is_left(agent)


def test_command_runs_in_the_place_of_its_job(begin: Begins, tmp_path: Path) -> None:
    script = 'pwd; echo "$X $WEFT_ATTEMPT"; echo /proc/self/fd/*; cat; exit 3'
    command = begin("sh", "-c", script, stdin=b"a\0\xff")
    assert (command.answer(), command.answer()) == (Begun(), Ended(3))
    output = os.read(command.output, BYTES_MAX)
    missing = begin("no-such").answer()

    assert output.startswith(f"{tmp_path}\nä b1.j1.1@".encode())
    inherited = b"".join(word[-1:] for word in output.split() if word.startswith(b"/proc/"))
    assert inherited == b"0123"  # the shell reads the directory by the last
    assert output.endswith(b"\na\0\xff")
    assert isinstance(missing, Ended)
    assert ("'no-such'" in missing.why, missing.exit_code) == (True, 127)
    for wrong in (("echo", "a\0b"), ("echo", "x" * 200_000)):
        assert isinstance(begin(*wrong).answer(), Refused)


@pytest.mark.parametrize(
    "script", ["exec sleep 1000", "setsid -f sleep 1000; trap '' TERM; sleep 1000; sleep 1000"]
)
@pytest.mark.parametrize("how", ["the client goes", "the job ends", "a signal"])
def test_nothing_is_left_of_a_command(agent: Agent, begin: Begins, script: str, how: str) -> None:
    one = begin("sh", "-c", f"echo begun; {script}")
    assert (one.answer(), os.read(one.output, 100)) == (Begun(), b"begun\n")
    if how == "the client goes":
        one.socket.close()
    else:
        if how == "the job ends":
            agent.kill(1, reason=Reason.CANCELLED)
        else:
            one.socket.send(msgspec.msgpack.encode(signal.SIGKILL.value))
        assert one.answer() == Ended(128 + signal.SIGKILL, with_job=how == "the job ends")
    until_none_is_left(agent)

    assert not agent.has_ended(2, within_s=0)


def test_no_more_run_than_may(begin: Begins) -> None:
    """Beside a job, of a tenant, and on a worker."""
    running = [begin("sleep", "1000").answer() for _ in range(2)]
    running += [begin("sleep", "1000", job_id=2, job_max=99).answer() for _ in range(30)]
    answers = [begin("true", job_id=job_id, job_max=job_id * 2).answer() for job_id in (1, 2, 3)]
    answers.append(begin("true", job_id=2, job_max=99).answer())
    two = {"job_id": 2, "job_max": 99, "tenant_id": 2}
    running += [begin("sleep", "1000", **two).answer() for _ in range(32)]
    answers.append(begin("true", job_id=2, job_max=99, tenant_id=3).answer())
    answers += [begin("true", database=name).answer() for name in ("", "others")]

    assert running == [Begun()] * 64
    assert [(one.code, one.why) for one in answers if isinstance(one, Refused)] == [
        ("WORKER.EXECS_FULL", "2 commands run beside it (exec_job_max)"),
        ("WORKER.EXECS_FULL", "4 commands run beside it (exec_job_max)"),
        ("API.JOB_NOT_RUNNING", "it has no process now"),
        ("WORKER.EXECS_FULL", "its worker runs 32 commands of yours"),
        ("WORKER.EXECS_FULL", "its worker runs 64 commands"),
        *[("WORKER.EXEC_ELSEWHERE", "its worker is not on this host")] * 2,
    ]


def test_a_flood_of_signals_leaves_turns_to_jobs(agent: Agent, begin: Begins) -> None:
    """Jobs start and end while one connection sends without end, whatever it is."""
    one = begin("sh", "-c", "trap '' URG; echo begun; sleep 1000")
    assert (one.answer(), os.read(one.output, 100)) == (Begun(), b"begun\n")
    is_over = threading.Event()

    def flood() -> None:
        packet = msgspec.msgpack.encode(signal.SIGURG.value)
        while not is_over.is_set():
            with suppress(TimeoutError):
                one.socket.send(packet)

    one.socket.settimeout(0.1)
    flooding = threading.Thread(target=flood)
    flooding.start()
    try:
        for job_id in range(3, 13):
            agent.start(process(job_id, "true", cpu_m=0))
            assert agent.until_ended(job_id).exit_code == 0
    finally:
        is_over.set()
        flooding.join()


def test_what_waits_beside_a_command_shows_the_job_nothing(tmp_path: Path) -> None:
    """`entry` has entered the namespaces of the job, which runs as the same account: until it is
    the command, and while it waits for that, nothing there reads or traces it.
    """
    variables = tmp_path / "variables"
    variables.write_bytes(b"--setenv\0PATH\0/usr/bin:/bin\0")
    imports = "import ctypes, fcntl, os, signal, struct, sys, termios, warnings\n"
    script = f"{imports}{BECOME_PLAIN}{Path(entry.__file__).read_text()}"
    looks = "cat /proc/$PPID/environ 2>&1; ls -l /proc/$PPID/fd 2>&1"
    with subprocess.Popen(["sleep", "60"], user=PLAIN_USER, group=PLAIN_USER) as job:
        pidfd = os.pidfd_open(job.pid)
        opened = os.open(variables, os.O_RDONLY)

        def give() -> None:
            for have, want in ((opened, 20), (pidfd, 21), (20, 3), (21, entry.JOB_FD)):
                os.dup2(have, want)

        seen = subprocess.run(
            [sys.executable, "-c", script, "plain", "/", "sh", "-c", looks],
            check=False,
            capture_output=True,
            text=True,
            env={"SECRET": "0123456789swordfish"},
            pass_fds=(3, entry.JOB_FD),
            preexec_fn=give,
        )
        job.kill()
    os.close(pidfd)
    os.close(opened)
    assert "swordfish" not in seen.stdout
    assert seen.stdout.count("Permission denied") == 2, seen
