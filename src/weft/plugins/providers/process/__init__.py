"""The provider `process`: workers on the host of the driver.

A machine is a process `python -m weft.run.worker` with a variable that names the deployment and
the machine, and the spawner that it starts. The variable is the only proof: a process is ended
only while a handle on it is held and it has the variable. So a machine is found again after a
restart of the driver, and no process of anybody else is ever touched.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

from weft.core.pools.pool import Option
from weft.core.scheduling.offers import parse_gpus
from weft.plugins.providers.pool_options import worker_variables, wrong_names, wrong_slots
from weft.ports.provider import FoundMachine, ProviderError, ProviderSite, WantedMachine
from weft.settings import variable_of
from weft.wire.processes import all_pids, end_process, parts_of

MARK: Final = "WEFT_MACHINE"
"""The variable: tag of the deployment, a slash, name of the machine."""
AGENT: Final = "weft.run.worker"
SPAWNER: Final = "weft.worker.spawner"
STOP_S: Final = 20.0
"""A worker ends its jobs within its own grace; then it is killed."""
KILL_S: Final = 2.0
SHOWN_S: Final = 10.0
LOG_KEPT_S: Final = 86_400.0
"""The log of a machine that is gone stays for a day,"""
LOGS_KEPT: Final = 50
"""and only this many of them."""
OPTIONS: Final = frozenset({"slots", "gpus"})
GPUS: Final = variable_of("worker_gpus")


class ProcessProvider:
    """The port `Provider` on processes of this host."""

    def __init__(self, site: ProviderSite) -> None:
        self._site = site
        self._creating = asyncio.Lock()
        self._children: set[int] = set()

    @staticmethod
    def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
        """Return what is wrong with the options of a pool."""
        wrong = {**wrong_names("process", options, OPTIONS), **wrong_slots(options)}
        try:
            parse_gpus(str(options.get("gpus", "none")))
        except ValueError as error:
            wrong["gpus"] = str(error)
        return wrong

    async def list(self) -> Sequence[FoundMachine]:
        """Return the machines whose processes live."""
        return await asyncio.to_thread(self._list)

    async def describe(self, name: str) -> FoundMachine | None:
        found = {one.name: one for one in await self.list()}
        return found.get(name)

    async def create(self, wanted: WantedMachine) -> FoundMachine:
        if unknown := sorted(wanted.options.keys() - OPTIONS):
            raise ProviderError(f"the provider process has no option {unknown[0]!r}")
        async with self._creating:
            if found := await self.describe(wanted.name):
                return found
            try:
                gpus = await asyncio.to_thread(self._free_gpus, wanted)
                pid = await asyncio.to_thread(self._start, wanted, gpus)
            except OSError as error:
                raise ProviderError(f"could not start a worker: {error.strerror}") from error
        self._children.add(pid)
        return FoundMachine(name=wanted.name, provider_id=str(pid))

    async def delete(self, name: str) -> None:
        """End the processes of a machine: ask first, then kill."""
        await asyncio.to_thread(self._end, name)
        self._reap()
        await asyncio.to_thread(self._remove_old_logs)

    async def close(self) -> None:
        """Forget the children; they live on."""
        self._reap()

    def _list(self) -> Sequence[FoundMachine]:
        self._reap()
        found: dict[str, int] = {}
        for pid, module, name in sorted(self._processes(), reverse=True):
            if module == AGENT or name not in found:
                found[name] = pid
        return [FoundMachine(name=name, provider_id=str(pid)) for name, pid in found.items()]

    def _free_gpus(self, wanted: WantedMachine) -> Sequence[str]:
        """Return ids of GPUs for a machine that no other machine of the deployment has."""
        count = wanted.flavour.gpus
        if not count:
            return []
        try:
            known = parse_gpus(str(wanted.options.get("gpus", "none"))) or []
        except ValueError as error:
            raise ProviderError(f"option gpus: {error}") from error
        taken: set[str] = set()
        for pid, _, _ in self._processes():
            taken.update(_variable(pid, GPUS).split(","))
        free = [one for one in known if one not in taken]
        if len(free) < count:
            raise ProviderError(
                f"{len(free)} of the {len(known)} GPUs in the option gpus of the pool are free, "
                f"the machine needs {count}",
                is_full=True,
            )
        return free[:count]

    def _processes(self) -> Iterator[tuple[int, str, str]]:
        """Yield pid, module and machine of each of this deployment's processes."""
        for pid in all_pids():
            if known := self._known(pid):
                yield pid, *known

    def _known(self, pid: int) -> tuple[str, str] | None:
        """Return module and machine of a process; None: it is not proved to be ours."""
        process = Path(f"/proc/{pid}")
        try:
            if process.stat().st_uid != os.geteuid():
                return None
            words = (process / "cmdline").read_bytes().split(b"\0")
            variables = (process / "environ").read_bytes().split(b"\0")
        except OSError:  # it has gone, or is not ours
            return None
        after = {
            word.decode(errors="replace") for option, word in pairwise(words) if option == b"-m"
        }
        mark = os.fsencode(f"{MARK}={self._site.tag}/")
        marks = [one.removeprefix(mark) for one in variables if one.startswith(mark)]
        modules = after & {AGENT, SPAWNER}
        return (modules.pop(), os.fsdecode(marks[0])) if modules and marks else None

    def _start(self, wanted: WantedMachine, gpus: Sequence[str]) -> int:
        log = self._site.logs / f"machine-{wanted.name}.log"
        write = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        pid = os.posix_spawn(
            sys.executable,
            # -P: modules in the current directory are not ours.
            [sys.executable, "-P", "-m", AGENT],
            {
                **self._site.environment,
                **worker_variables(wanted, worker_queues="", worker_gpus=",".join(gpus) or "none"),
                MARK: f"{self._site.tag}/{wanted.name}",
            },
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), write, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
            setsigmask=(),
        )
        # For a moment the kernel shows neither arguments nor variables of a new program.
        deadline = time.monotonic() + SHOWN_S
        while self._known(pid) is None and time.monotonic() < deadline:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                break
            time.sleep(0.001)
        return pid

    def _remove_old_logs(self) -> None:
        """Remove logs of machines that are gone. The newest stay: they say why no worker came."""
        living = {f"machine-{name}.log" for _, _, name in self._processes()}
        logs = []
        for one in self._site.logs.glob("machine-*.log"):
            with suppress(FileNotFoundError):  # another driver was faster
                if one.name not in living:
                    logs.append((one.stat().st_mtime, one))
        oldest = time.time() - LOG_KEPT_S
        for n_newer, (written, log) in enumerate(sorted(logs, reverse=True)):
            if n_newer >= LOGS_KEPT or written < oldest:
                log.unlink(missing_ok=True)

    def _end(self, name: str) -> None:
        """End the agent, which ends its spawner; then a spawner whose agent was dead."""
        steps = {signal.SIGTERM: STOP_S, signal.SIGKILL: KILL_S}
        for module in (AGENT, SPAWNER):
            is_meant = partial(self._is, (module, name))
            for pid in [pid for pid, *known in self._processes() if known == [module, name]]:
                end_process(pid, steps, is_meant=is_meant)

    def _is(self, known: tuple[str, str], pid: int) -> bool:
        return self._known(pid) == known

    def _reap(self) -> None:
        """Let the kernel forget children that have ended."""
        for pid in list(self._children):
            try:
                ended, _ = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                ended = pid
            if ended:
                self._children.discard(pid)


def _variable(pid: int, name: str) -> str:
    """Return a variable of a process; nothing if it has none or is gone."""
    start = os.fsencode(f"{name}=")
    variables = parts_of(pid, "environ")
    found = [one.removeprefix(start) for one in variables if one.startswith(start)]
    return os.fsdecode(found[0]) if found else ""
