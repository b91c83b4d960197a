"""A real spawner for tests, and the agent's end of its socket without an agent."""

import functools
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from weft.core.states import AttemptKey
from weft.plugins.log_stores.files.reader import FileReader
from weft.ports.log_store import AttemptLog
from weft.wire.log_format import CUT, CUT_BODY, STDERR, STDOUT, segment_location
from weft.wire.spawner import (
    Acknowledge,
    AgentMessage,
    Framer,
    Hello,
    Kill,
    LiveProcess,
    ProcessEnd,
    Quit,
    Report,
    SpawnerMessage,
    Start,
    StartProcess,
    Welcome,
    frame,
)

PATH = "/usr/local/bin:/usr/bin:/bin"
VARIANT = str(Path(__file__).with_name("spawner_variant.py"))
_UNSHARE = ("unshare", *(() if os.geteuid() == 0 else ("--user", "--map-current-user")))
NAMESPACE = (
    *_UNSHARE,
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "--propagation",
    "slave",
)
SUSPENDED_S = 100_000
AFTER_SUSPENSION = (*_UNSHARE, "--time", f"--boottime={SUSPENDED_S}")
"""What is started by this sees a host that was suspended for `SUSPENDED_S` since it booted."""
DEADLINE_S = 60.0


def key_of(job_id: int) -> AttemptKey:
    """Return the key of the first attempt of a job."""
    return AttemptKey(1, job_id, 1)


def process(job_id: int, *argv: str, **changes: Any) -> StartProcess:  # noqa: ANN401 (as the fields)
    """Return a process to be started, with small limits."""
    values: dict[str, Any] = {
        "env": {},
        "cwd": "/",
        "stdin": None,
        "timeout_ms": None,
        "grace_ms": 300,
        "stream_bytes_max": 64 << 20,
        "stream_head_bytes": 1 << 20,
        "cpu_m": 1000,
        "memory_mib": 1,
    }
    return StartProcess(key=key_of(job_id), argv=argv, **{**values, **changes})


def has_namespaces() -> bool:
    """Say whether this kernel lends us a PID namespace."""
    return _works(NAMESPACE)


def can_suspend() -> bool:
    """Say whether this kernel lends us a time namespace."""
    return _works(AFTER_SUSPENSION)


@functools.cache
def _works(prefix: Sequence[str]) -> bool:
    try:
        return subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def clocks_of_timers(pid: int) -> set[int]:
    """Return the numbers of the clocks that the timer descriptors of a process count."""
    found = set()
    for entry in Path(f"/proc/{pid}/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            lines = entry.read_text().splitlines()
            found |= {int(one.split()[1]) for one in lines if one.startswith("clockid:")}
    return found


class SpawnerProcess:
    """One spawner below a directory; `connect` as often as agents come."""

    def __init__(
        self,
        root: Path,
        *,
        logs: Path | None = None,
        namespace: bool = False,
        program: Sequence[str] = ("-m", "weft.worker.spawner"),
        after_suspension: bool = False,
        modes: Sequence[str] = (),
    ) -> None:
        self.root = root
        self.logs = logs or root / "logs"
        self.scratch = root / "scratch"
        self._agents: list[Agent] = []
        ready, ready_of_spawner = os.pipe()
        self.checkpoints = root / "checkpoints"
        places = (self.logs, self.scratch, self.checkpoints)
        words = (root / "s.sock", root / "s.lock", *places, ready_of_spawner, *modes)
        self.process = subprocess.Popen(
            [
                *(AFTER_SUSPENSION if after_suspension else ()),
                *(NAMESPACE if namespace else ()),
                *(sys.executable, "-X", "utf8", *program),
                *map(str, words),
            ],
            pass_fds=(ready_of_spawner,),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
        )
        os.close(ready_of_spawner)
        word = os.read(ready, 1)
        os.close(ready)
        assert word == b"\n", f"the spawner ended with {self.process.wait()}"
        self.pid = self._pid() if namespace else self.process.pid

    def _pid(self) -> int:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])

    def connect(
        self,
        *,
        cpu_m: int = 2000,
        memory_mib: int = 1000,
        gpus: tuple[str, ...] = (),
        sample_ms: int = 0,
        samples_max: int = 1000,
    ) -> "Agent":
        """Return an agent that has been welcomed."""
        hello = Hello(cpu_m, memory_mib, gpus=gpus, sample_ms=sample_ms, samples_max=samples_max)
        agent = Agent(self, hello)
        self._agents.append(agent)
        return agent

    def memory_kib(self, what: str = "VmHWM") -> int:
        """Return how much memory the spawner has or had."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(what):
                return int(line.split()[1])
        raise AssertionError(what)

    def kill(self) -> None:
        """Kill the spawner at once."""
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait(DEADLINE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the spawner as an agent does when it drains, and its agents' connections."""
        for agent in self._agents:
            agent.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            if self.pid != self.process.pid:
                os.kill(self.pid, signal.SIGTERM)
            self.process.wait(DEADLINE_S)


class Agent:
    """The other end of the socket."""

    def __init__(self, spawner: SpawnerProcess, hello: Hello) -> None:
        self._spawner = spawner
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(spawner.root / "s.sock"))
        self._framer = Framer()
        self._decoder = msgspec.msgpack.Decoder(SpawnerMessage)
        self._messages: list[Report | Welcome] = []
        self.started: list[LiveProcess] = []
        self.ended: dict[AttemptKey, ProcessEnd] = {}
        self.withdrawn: list[AttemptKey] = []
        self.send(hello)
        self._until(lambda: bool(self._messages))
        welcome = self._messages.pop(0)
        assert isinstance(welcome, Welcome)
        self.welcome = welcome

    def send(self, message: AgentMessage) -> None:
        """Send one message."""
        self._socket.sendall(frame(message))

    def send_bytes(self, data: bytes) -> None:
        """Send what may be no message."""
        self._socket.sendall(data)

    def start(self, *processes: StartProcess, env: dict[str, str] | None = None) -> None:
        """Start these, with PATH as their environment."""
        self.send(Start([{"PATH": PATH} if env is None else env], list(processes)))

    def begin(self, one: StartProcess) -> LiveProcess:
        """Start one process, with PATH as its environment, and wait until it is told."""
        self.start(one)
        return self.until_started(one.key.job_id)

    def run(self, *argv: str, job_id: int = 1, **changes: Any) -> ProcessEnd:  # noqa: ANN401 (as the fields)
        """Start one process and return its end, acknowledged."""
        self.start(process(job_id, *argv, **changes))
        ended = self.until_ended(job_id)
        self.send(Acknowledge([ended.key]))
        return ended

    def until_ended(self, job_id: int) -> ProcessEnd:
        """Wait until an attempt has ended."""
        self._until(lambda: key_of(job_id) in self.ended)
        return self.ended.pop(key_of(job_id))

    def has_ended(self, job_id: int, *, within_s: float) -> bool:
        """Say whether an attempt ends within some time."""
        deadline = time.monotonic() + within_s
        while key_of(job_id) not in self.ended and time.monotonic() < deadline:
            ready, _, _ = select.select(
                [self._socket], [], [], max(0, deadline - time.monotonic())
            )
            if ready:
                self._read()
        return key_of(job_id) in self.ended

    def until(self, key: AttemptKey) -> ProcessEnd:
        """Wait until an attempt of any batch has ended; acknowledge it."""
        self._until(lambda: key in self.ended)
        self.send(Acknowledge([key]))
        return self.ended.pop(key)

    def until_started(self, job_id: int) -> LiveProcess:
        """Wait until a process has lived long enough to be told."""
        self._until(lambda: any(one.key == key_of(job_id) for one in self.started))
        return next(one for one in self.started if one.key == key_of(job_id))

    def until_withdrawn(self, count: int) -> list[AttemptKey]:
        """Wait until `count` attempts were withdrawn."""
        self._until(lambda: len(self.withdrawn) >= count)
        return self.withdrawn

    def is_closed_by_spawner(self) -> bool:
        """Wait until the spawner closes the connection."""
        self._socket.settimeout(DEADLINE_S)
        try:
            while self._socket.recv(1 << 16):
                continue
        except ConnectionResetError:
            return True
        return True

    def kill(self, *job_ids: int, reason: int, grace_ms: int = 300) -> None:
        """Kill attempts."""
        self.send(Kill([key_of(job_id) for job_id in job_ids], reason, grace_ms))

    def quit(self) -> None:
        """Tell the spawner to quit."""
        self.send(Quit())

    def close(self) -> None:
        """Go away without a word."""
        self._socket.close()

    def output(self, ended: ProcessEnd) -> tuple[bytes, bytes, int]:
        """Return what is stored of both streams, and how many bytes were left out."""
        key = ended.key
        place = AttemptLog(
            key.batch_id,
            key.job_id,
            key.attempt,
            ended=True,
            location=segment_location(ended.segment, ended.offset),
            stdout_bytes=ended.stdout_bytes,
            stderr_bytes=ended.stderr_bytes,
            truncated=ended.truncated,
            state="success",
        )
        kept = {STDOUT: bytearray(), STDERR: bytearray()}
        left_out = 0
        for piece in FileReader(self._spawner.logs).pieces(place, 0):
            if piece.kind == CUT:
                left_out += CUT_BODY.unpack(piece.data)[1]
            else:
                kept[piece.kind] += piece.data
        return bytes(kept[STDOUT]), bytes(kept[STDERR]), left_out

    def _until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not is_so():
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self._socket], [], [], max(0, left))
            assert ready, "the spawner says nothing"
            self._read()

    def _read(self) -> None:
        data = self._socket.recv(1 << 20)
        assert data, "the spawner has closed the connection"
        for body in self._framer.feed(data):
            self._take(self._decoder.decode(body))

    def _take(self, message: SpawnerMessage) -> None:
        if isinstance(message, Welcome):
            self._messages.append(message)
            return
        self.started += message.started
        self.withdrawn += message.withdrawn
        for ended in message.ended:
            self.ended[ended.key] = ended


def until(is_so: Callable[[], bool]) -> None:
    """Wait for a fact of which no event tells."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline


def until_gone(*pids: int) -> None:
    """Wait until these processes of the host have ended."""
    for pid in pids:
        try:
            pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ready, _, _ = select.select([pidfd], [], [], DEADLINE_S)
        os.close(pidfd)
        assert ready, f"process {pid} lives"


def marked(text: str) -> set[int]:
    """Return live processes of the host with this text in an argument or in the environment."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if text.encode() in words:
                found.add(int(entry.name))
    return found
