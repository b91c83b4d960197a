"""The weft that is attacked: a home, `weft up` on it, more apis and workers beside that, and
workers outside, which know nothing but a wire to the api.

Signals reach only processes of this home, which nobody else has.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from pathlib import Path
from socket import socket
from typing import cast

from weft.run.child import ROLE_VARIABLE, SUPERVISOR_VARIABLE
from weft.run.home import Home
from weft.run.role_process import RoleFailed
from weft.settings import outer_environment
from weft.store.embedded.leftovers import postmaster_pid, server_pids
from weft.wire.processes import parts_of
from weft_siege.broker import Broker
from weft_siege.bucket import Bucket
from weft_siege.clocks import ACT, Clocks
from weft_siege.disk import Disk
from weft_siege.evidence import live_processes
from weft_siege.faults import CONTROLLER, GATEWAY, Fault, apart, cut_off, linked
from weft_siege.network import Act, DatabaseWire, Receiver, Wire
from weft_siege.pair import Pair
from weft_siege.patience import until
from weft_siege.processes import SIGNALS, command_of, pids_of_home, send, spawner_pids
from weft_siege.releases import Releases, environment_of
from weft_siege.slurm import Slurm

SETTINGS = {
    "WEFT_HEARTBEAT_S": "5",
    "WEFT_LOST_AFTER_S": "10",
    "WEFT_WORKER_NAME": "worker",
    "WEFT_LOG_FORMAT": "json",
    "WEFT_WORKER_CPU_M": "4000",
    "WEFT_LOSSES_MAX": "100",
    "WEFT_CALLBACK_PRIVATE_HOSTS": "127.0.0.1",
    "WEFT_CALLBACK_RETRY_FIRST_S": "0.5",
    "WEFT_SPENDING_INTERVAL_S": "1",
}
END_S = 60.0
"""What was told to end has that long, on a machine with much else to do, too."""
_PAUSE_S = 0.2
_AS_CHILD = (
    "import os, runpy, sys; from weft.run import child; child.end_with_supervisor(); "
    "del os.environ[child.SUPERVISOR_VARIABLE]; runpy.run_module(sys.argv[1], run_name='__main__')"
)
"""Of a role that ends with us, and is told nothing else by its supervisor."""
_ACTS = {**SIGNALS, "rollback": signal.SIGTERM}


class Fortress:
    """The processes of one home. `weft up` starts its own again; the others we do."""

    def __init__(
        self,
        home: Path,
        workers: int,
        *,
        standby: bool = False,
        broker: Broker | None = None,
        disk: Disk | None = None,
        other: Path | None = None,
        bucket: Bucket | None = None,
        clocks: Clocks | None = None,
        slurm: Slurm | None = None,
    ) -> None:
        self.home = home
        self.pair = Pair(home) if standby else None
        self._environ = (
            outer_environment()
            | SETTINGS
            | {
                "WEFT_HOME": str(home),
                "WEFT_SOURCE_PATHS": str(home.parent),
                "WEFT_TESTER_PATHS": str(home.parent),
            }
        )
        self.broker = broker
        self._disk = disk
        if disk:
            self._environ |= disk.SETTINGS
        self.bucket = bucket
        self._clocks = clocks
        self.slurm = slurm
        if broker:
            self._environ["WEFT_TRANSPORTS_FILE"] = str(broker.transports)
        self._apart = [*apart(workers), *([GATEWAY] if slurm else ())]
        self.releases = Releases(other)
        self._linked = linked(workers)
        self.ports = _free_ports(2)
        self._cut_off = cut_off(workers)
        self._way = DatabaseWire(home.parent / "wire")
        self.wires = {"link": Wire("127.0.0.1", self.ports[0]), "database": self._way}
        if broker:
            self.wires["broker"] = broker.wire
        if bucket:
            self.wires["bucket"] = bucket.wire
        self.receiver = Receiver()
        self._keepers: list[asyncio.Task[None]] = []
        """Start again what ends: none of them may end."""
        self._told: dict[str, float] = {}
        """When a role that runs apart was last told to end."""
        self.slowest_s: dict[str, float] = {}
        """The longest time until one of a kind had ended after it was told to."""
        self.left: Sequence[str] = ()
        """What lived on at the end, when all were told to end: each process with its command."""

    @property
    def workers(self) -> set[str]:
        """Return the names of all workers."""
        return {"worker", *(name for name in self._apart if name.startswith("worker"))}

    @asynccontextmanager
    async def standing(self) -> AsyncIterator["Fortress"]:
        """Start all; leave no process behind."""
        self.home.mkdir(mode=0o700)
        self._environ["WEFT_MAIL_SERVER"] = f"127.0.0.1:{self.receiver.mailbox.port}"
        words = ["-m", "weft.cli", "up"]
        if self.pair:
            await self.pair.start()
            self._keepers.append(asyncio.create_task(self.pair.keep()))
            words += ["--database", self.pair.dsn]
        environ = {"WEFT_PORT": str(self.ports[0])}
        up = await self._start("up", environ, sys.executable, *words)
        try:
            await self._until_ready("api", "driver", "worker")
            for name in self._linked:
                await self._invite(name)
            if self.slurm:
                self._keepers.append(asyncio.create_task(self.slurm.keep()))
            self._keepers += [asyncio.create_task(self._keep(name)) for name in self._apart]
            await self._until_ready(*self._apart)
            yield self
        finally:
            for keeper in self._keepers:
                keeper.cancel()
            self.releases.stop()
            self.wake()
            for name in self._apart:
                send(signal.SIGTERM, self.pids(name))
            with suppress(ProcessLookupError):
                up.terminate()
            with suppress(RoleFailed):
                await until(lambda: not self._due_to_end(), "all end", within_s=END_S)
            self.left = [
                f"{pid} {text}" for pid in self._due_to_end() if (text := command_of(pid))
            ]
            if self.pair:
                self.pair.stop()
            send(signal.SIGKILL, self._ours())
            await up.wait()
            if self._disk:
                self._disk.empty()

    def _ours(self) -> set[int]:
        """Return every live process of this home, and of jobs, which have a mark."""
        ours = os.fsencode(self.home.parent) + b"/"
        jobs = {pid for pid, path in live_processes().items() if path.startswith(ours)}
        return jobs.union(self.leftovers())

    def _due_to_end(self) -> set[int]:
        """Return those of them but the servers of a pair, which we stop ourselves."""
        return self._ours().difference(self.pair.pids() if self.pair else ())

    @asynccontextmanager
    async def wired(self) -> AsyncIterator[None]:
        """Carry what goes over wires."""
        async with AsyncExitStack() as stack:
            for name in ("link", "database"):
                await stack.enter_async_context(self.wires[name].carrying())
            for part in (self.broker, self.bucket):
                if part:
                    await stack.enter_async_context(part.carried())
            if self.bucket:
                self._environ |= self.bucket.settings
            yield

    async def _start(
        self, name: str, environ: Mapping[str, str], python: str, *words: str
    ) -> Process:
        log = self.home / f"{name}.siege.log"
        with log.open("ab") as output:
            return await asyncio.create_subprocess_exec(
                python,
                "-P",
                *words,
                cwd="/",
                env=environment_of(python, {**self._environ, **environ}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    async def command(self, *words: str) -> bytes:
        """Run a command of this home; return what it prints."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "weft.cli",
            *words,
            env=self._environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        said, error = await process.communicate()
        if process.returncode:
            raise RoleFailed(f"weft {words[0]} has failed", detail=error.decode())
        return said

    def _outside(self, name: str) -> Path:
        """Return the home of a worker outside."""
        return self.home / f"outside-{name}"

    async def _invite(self, name: str) -> None:
        """Give a worker outside a home, and in it a token for its name alone."""
        outside = self._outside(name)
        outside.mkdir(mode=0o700)
        words = ("token", "create", name, "--pool", "default", "--workers", name)
        token = await self.command(*words)
        (outside / "token").touch(0o600)
        (outside / "token").write_bytes(token)

    async def _keep(self, name: str) -> None:
        """Run one role, and start it again whenever it ends."""
        environ = {
            ROLE_VARIABLE: name,
            SUPERVISOR_VARIABLE: str(os.getpid()),
            "WEFT_WORKER_NAME": name,
            "WEFT_PORT": str(self.ports[1]),
            "WEFT_SIMULATION_SLOTS": "0",
        }
        if name == GATEWAY and self.slurm:
            environ |= self.slurm.settings
        if self._clocks:
            environ |= self._clocks.environment(name)
        words = ["-m", f"weft.run.{name.partition('-')[0]}"]
        if name in {*self._linked, *self._cut_off}:
            words = ["-c", _AS_CHILD, words[1]]
        if name in self._cut_off:  # an api has more than one login
            login = Home(self.home).secrets()[f"weft_{name.partition('-')[0]}"]
            environ["WEFT_DATABASE"] = self._way.dsn(login)
        if name in self._linked:
            outside = self._outside(name)
            environ |= {
                "WEFT_HOME": str(outside),
                "WEFT_TOKEN_FILE": str(outside / "token"),
                "WEFT_CONNECT": f"http://127.0.0.1:{self.wires['link'].port}",
            }
        while True:
            process = await self._start(name, environ, self.releases.python(name), *words)
            await process.wait()
            if told := self._told.pop(name, None):
                kinds = {**dict.fromkeys(self._linked, "linked"), GATEWAY: "gateway"}
                kind = f"seconds until {kinds.get(name, name.partition('-')[0])} was out"
                lasted_s = round(time.monotonic() - told, 1)
                self.slowest_s[kind] = max(lasted_s, self.slowest_s.get(kind, 0.0))
            await asyncio.sleep(_PAUSE_S)

    async def _until_ready(self, *names: str) -> None:
        for name in names:
            ready = self.home / "run" / f"{name}.ready"
            if name in self._linked:
                ready = self._outside(name) / "run" / f"{name}-{name}.ready"
            elif name in self._cut_off and name.startswith("worker"):
                ready = ready.with_name(f"{name}-{name}.ready")
            await until(ready.exists, f"{name} is ready")

    def check_keepers(self) -> None:
        """Raise what has ended a keeper: nothing would come back."""
        for keeper in self._keepers:
            if keeper.done():
                keeper.result()

    async def inflict(self, fault: Fault) -> bool:
        """Do what a fault says, and undo it in time; say whether it met anything."""
        self.check_keepers()
        self.releases.bring_schema(self._start)
        later = asyncio.get_running_loop().call_later
        if wire := self.wires.get(fault.target):
            act = cast("Act", fault.act)
            wire.suffer(act)
            later(fault.lasts_s, wire.recover, act)
            return wire.is_used
        if fault.target == "disk" and self._disk:
            later(fault.lasts_s, self._disk.empty)
            return self._disk.fill()
        if fault.target == CONTROLLER and self.slurm:
            return self.slurm.inflict(fault)
        if self._clocks and fault.act.startswith(ACT):
            self._clocks.turn(fault.target, fault.act)
            later(fault.lasts_s, self._clocks.turn_back, fault.target, fault.act)
            return bool(self.pids(fault.target))
        if fault.act == "failover":
            return bool(self.pair and await self.pair.fail_over())
        pids = self.pids(fault.target)
        if fault.act == "rollback":
            self.releases.roll_back(fault.target)
            later(fault.lasts_s, self._upgrade, fault.target)
        number = _ACTS[fault.act]
        if fault.target == "postgres" and fault.act == "restart":
            main = postmaster_pid(self.home / "pg")
            pids, number = [main] if main else [], signal.SIGINT
        send(number, pids)
        if fault.act == "restart" and pids:
            self._told[fault.target] = time.monotonic()
        if fault.act == "stop":
            later(fault.lasts_s, self.wake, pids)
        return bool(pids)

    def recover(self) -> None:
        """Undo what lasts."""
        self.wake()
        for wire in self.wires.values():
            wire.suffer("")
        for name in self._apart:
            self._upgrade(name)

    def wake(self, pids: Sequence[int] | None = None) -> None:
        """Let these processes, or all of the home, go on."""
        if self.slurm and pids is None:
            self.slurm.wake()
        alive = self.leftovers()
        send(signal.SIGCONT, [pid for pid in alive if pids is None or pid in pids])

    def _upgrade(self, name: str) -> None:
        """End a role that was rolled back: the next one is ours."""
        if self.releases.upgrade(name):
            send(signal.SIGTERM, self.pids(name))

    def pids(self, target: str) -> Sequence[int]:
        """Return the processes with the name of a target."""
        part, _, number = target.partition("-")
        if part == "postgres":
            return list(server_pids(self.home / "pg"))
        if part == "standby" and self.pair:
            return self.pair.pids(target)
        if part == "spawner":
            end = f"spawner-worker{number and '-' + number}.sock"
            return spawner_pids(self.home, end)
        role = f"{ROLE_VARIABLE}={target}".encode()
        return [
            pid
            for pid in pids_of_home(self.home, f"weft.run.{part}")
            if role in parts_of(pid, "environ")
        ]

    def leftovers(self) -> Sequence[int]:
        """Return every live process of this home."""
        servers = self.pair.pids() if self.pair else server_pids(self.home / "pg")
        return [
            *pids_of_home(self.home, "-m"),
            *pids_of_home(self.home, "-c"),
            *servers,
        ]  # -c: the worker outside


def _free_ports(count: int) -> Sequence[int]:
    with ExitStack() as sockets:
        listeners = [sockets.enter_context(socket()) for _ in range(count)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in listeners]
