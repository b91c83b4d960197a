"""What stands beside what: weft, and each peer with its server and its worker as processes."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benches.process_trees import pids_of_tree
from weft.bench.plan import BenchFailed
from weft.run.database import EmbeddedDatabase
from weft.run.home import Home
from weft.store.embedded.server import dying_with_parent

ROOT: Final = Path(__file__).parents[2]
ADAPTERS: Final = Path(__file__).parent / "adapters"
START_S: Final = 240.0
LOOK_S: Final = 0.01
WORKER_MODULES: Final = (b"weft.run.worker", b"weft.worker.spawner")


@dataclass(frozen=True, kw_only=True)
class Peer:
    """What a peer consists of."""

    server: str = ""
    """`postgres`, `redis` or `rabbitmq`, or `own`: what its adapter starts."""
    port: int = 0
    worker: bool = True
    """Without one, the server or what submits runs the jobs."""
    functions: bool = True
    forks: bool = False
    """A process for each function: fewer of them will do."""
    goes_on: bool = False
    """The same command, started again, goes on where a killed one was."""

    @property
    def keeps_jobs(self) -> bool:
        """Whether what was submitted is anywhere but in the processes that run it."""
        return self.goes_on or self.server not in {"", "own"}


PEERS: Final = {
    "procrastinate": Peer(server="postgres"),
    "pgqueuer": Peer(server="postgres"),
    "awa": Peer(server="postgres"),
    "absurd": Peer(server="postgres"),
    "rq": Peer(server="redis", port=28970, forks=True),
    "dramatiq": Peer(server="redis", port=28971),
    "celery": Peer(server="rabbitmq", port=28990),
    "hyperqueue": Peer(server="own", worker=False, forks=True),
    "ray": Peer(server="own", port=28980, worker=False),
    "joblib": Peer(worker=False),
    "parallel": Peer(worker=False, functions=False, goes_on=True),
}


class Side:
    """A peer while it runs. `python`: that of its environment."""

    def __init__(self, name: str, place: Path, python: str) -> None:
        self.name, self.place = name, place
        self.peer = PEERS.get(name, Peer(server="own", worker=False, goes_on=True))
        self.done = place / "done"
        self.done.touch()
        self._python = python
        self._adapter = str(ADAPTERS / f"on_{name}.py")
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._address = ""
        self._at_once, self._dead_after_s = 1, 0.0

    async def start(self, at_once: int) -> None:
        """Start server and worker, or the worker anew with another number of jobs at once."""
        self._at_once = at_once
        if not self._address or self.peer.server == "own":
            await self.stop()
            await self.start_server()
            if self.peer.server == "postgres":
                self._run("prepare")
        self.start_worker()

    async def join(self, dsn: str, at_once: int, dead_after_s: float) -> None:
        """Start with a database of somebody else. A worker is dead after so long a silence."""
        self._address, self._at_once, self._dead_after_s = dsn, at_once, dead_after_s
        self._run("prepare")
        self.start_worker()

    async def start_server(self) -> None:
        """Start the server, on the files that it left."""
        match self.peer.server:
            case "own":
                self._address = f"127.0.0.1:{self.peer.port}"
                self._begin("server")
            case "redis":
                self._address = f"redis://127.0.0.1:{self.peer.port}/0"
                words = ["--port", str(self.peer.port), "--dir", str(self.place)]
                self._spawn("server", ["redis-server", *words, "--appendonly", "yes"])
            case "rabbitmq":
                self._address = f"amqp://guest:guest@127.0.0.1:{self.peer.port}//"
                self._rabbitmq("start", str(self.peer.port))
            case "postgres":
                await self._start_postgres()
            case _:
                self._address = "none"
        await asyncio.sleep(1)

    def start_worker(self) -> None:
        """Start the worker, after the end of the one before."""
        if self.peer.worker:
            self._kill("worker")
            self._begin("worker")

    def submit(self, kind: str, first: int, count: int) -> "subprocess.Popen[bytes]":
        """Submit jobs of a kind."""
        return self._begin("submit", kind, str(first), str(count))

    def feed(self) -> "subprocess.Popen[bytes]":
        """Start what submits `KIND FIRST COUNT` of each line that it is given."""
        return self._spawn("feed", [self._python, self._adapter, "feed"], stdin=subprocess.PIPE)

    def kill_worker(self) -> None:
        """Kill what runs the jobs, with all below it."""
        for name in ("worker",) if self.peer.worker else ("server", "submit"):
            self._kill(name)

    async def kill_server(self) -> None:
        """Kill the server with all below it."""
        if self.peer.server == "rabbitmq":
            for file in (self.place / "run").glob("*.pid"):
                _kill_tree(int(file.read_text().split()[0]))
        self._kill("server")

    def heal(self) -> None:
        """Start again what has ended by itself, as a manager of services does."""
        process = self._processes.get("worker")
        if process is not None and process.poll() is not None:
            self._begin("worker")

    def has_failed(self) -> bool:
        """Say whether what submits has ended with an error."""
        process = self._processes.get("submit")
        return process is not None and process.poll() not in {None, 0}

    def pids(self) -> list[int]:
        """Return all processes."""
        tops = [process.pid for process in self._processes.values() if process.poll() is None]
        if self.peer.server == "rabbitmq":
            files = (self.place / "run").glob("*.pid")
            tops += [int(file.read_text().split()[0]) for file in files]
        return sorted({pid for top in tops for pid in pids_of_tree(top)})

    async def stop(self) -> None:
        """End all."""
        for name in list(self._processes):
            self._kill(name)
        if self.peer.server == "rabbitmq" and self._address:
            self._rabbitmq("stop")

    def environment(self) -> dict[str, str]:
        """Return the variables of its processes."""
        own = {name: text for name, text in os.environ.items() if not name.startswith("WEFT_")}
        path = f"{Path(self._python).parent}:{own['PATH']}"
        return own | {
            "PEER_DONE": str(self.done),
            "PEER_AT_ONCE": str(self._at_once),
            "PATH": path,
            "PEER_SERVER": self._address,
            "PEER_DEAD_AFTER_S": str(self._dead_after_s),
            "PYTHONPATH": str(ADAPTERS),
            "RAY_TMPDIR": str(self.place),
            "WEFT_HOME": str(self.place / "home"),
        }

    def _begin(self, *words: str) -> "subprocess.Popen[bytes]":
        return self._spawn(words[0], [self._python, self._adapter, *words])

    def _run(self, *words: str) -> None:
        if self._begin(*words).wait(START_S):
            raise BenchFailed(f"{self.name} could not {words[0]}", detail=self.log_end())

    def _spawn(
        self, name: str, words: Sequence[str], stdin: int = subprocess.DEVNULL
    ) -> "subprocess.Popen[bytes]":
        with (self.place / "said").open("ab") as log:
            process = subprocess.Popen(
                [*dying_with_parent(), *words],
                cwd=self.place,
                env=self.environment(),
                stdin=stdin,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes[name] = process
        return process

    def _kill(self, name: str) -> None:
        process = self._processes.pop(name, None)
        if process is not None:
            _kill_tree(process.pid)
            process.wait()

    async def _start_postgres(self) -> None:
        database = EmbeddedDatabase(Home(self.place / "home"))
        Home(self.place / "home").prepare()
        self._processes["server"] = await database.start()
        self._address = database.logins()["admin"]

    def _rabbitmq(self, *words: str) -> None:
        script, action, *rest = str(ROOT / "tests/servers/rabbitmq.sh"), *words
        done = subprocess.run(
            [script, action, str(self.place), *rest],
            check=False,
            capture_output=True,
            text=True,
            timeout=START_S,
        )
        if done.returncode:
            raise BenchFailed("RabbitMQ could not start", detail=done.stderr[-500:])

    def log_end(self) -> str:
        """Return the last lines of all its processes."""
        return (self.place / "said").read_text(errors="replace")[-1500:]


class WeftSide(Side):
    """A `weft up`, whose supervisor starts again what was killed."""

    _dsn = ""

    async def start(self, at_once: int) -> None:
        """Start it once: resources of a job say how many run at once."""
        self._at_once = at_once
        if not self._processes:
            words = [sys.executable, "-P", "-m", "weft.cli", "up", "--port", "0"]
            self._spawn("server", [*words, "--log-format", "json"])
            await until(lambda: b'"up.started"' in (self.place / "said").read_bytes(), "weft up")

    async def join(self, dsn: str, at_once: int, dead_after_s: float) -> None:  # noqa: ARG002 (as usual)
        """Start with a database of somebody else."""
        self._dsn = dsn
        await self.start(at_once)

    def environment(self) -> dict[str, str]:
        """Return the variables of its processes."""
        return super().environment() | ({"WEFT_DATABASE": self._dsn} if self._dsn else {})

    def kill_worker(self) -> None:
        """Kill the worker's agent and its spawner, with the jobs."""
        for pid in self._pids_with(*WORKER_MODULES):
            _kill_tree(pid)

    async def kill_server(self) -> None:
        """Kill the database."""
        for pid in self._pids_with(b"bin/postgres"):
            _kill_tree(pid)

    def heal(self) -> None:
        """Do nothing: `weft up` does it."""

    async def stop(self) -> None:
        """End it."""
        process = self._processes.pop("server", None)
        if process is not None:
            process.send_signal(signal.SIGTERM)
            process.wait(60)

    def _pids_with(self, *marks: bytes) -> list[int]:
        return [pid for pid in self.pids() if any(mark in _read(pid, "cmdline") for mark in marks)]


def side_of(name: str) -> Side:
    """Return a side with a directory of its own, on a disk."""
    place = Path(tempfile.mkdtemp(prefix=f"weft-peers-{name}-", dir="/var/tmp"))
    if name == "weft":
        return WeftSide(name, place, sys.executable)
    own = ROOT / ".tools/peers" / name / "bin/python"
    return Side(name, place, str(own) if own.exists() else sys.executable)


async def until(is_so: Callable[[], bool], what: str, seconds: float = START_S) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise BenchFailed(f"{what} takes too long")
        await asyncio.sleep(LOOK_S)


def remove(side: Side) -> None:
    """Remove its files."""
    shutil.rmtree(side.place, ignore_errors=True)


def pss_mb(pids: Sequence[int]) -> float:
    """Return the memory of processes, where what several share counts once."""
    lines = [line for pid in pids for line in _read(pid, "smaps_rollup").splitlines()]
    kib = sum(int(line.split()[1]) for line in lines if line.startswith(b"Pss:"))
    return round(kib * 1024 / 1e6, 1)


def _kill_tree(pid: int) -> None:
    for one in pids_of_tree(pid):
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
