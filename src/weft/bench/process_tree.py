"""Resources used by the processes of a home, by role, read from `/proc`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.run.home import Home
from weft.run.host.leftovers import SPAWNER_MODULE

ROLES = ("postgres", "api", "driver", "worker", "up")
_MODULES = {"weft.run.api": "api", "weft.run.driver": "driver", "weft.run.worker": "worker"}
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_KIB, _MB = 1024, 1_000_000


@dataclass(frozen=True)
class Use:
    """Resources that one role has used."""

    cpu_s: float
    """With that of its processes which have ended."""
    rss_mb: float
    """Resident memory, in millions of bytes. Pages that processes share count in each."""
    pss_mb: float
    """The same; a page that several processes share counts for each as its part."""
    processes: int


def use_by_role(home: Home, up_pid: int) -> dict[str, Use]:
    """Return what each role of a live home has used until now. The worker: agent and spawner."""
    parents = parents_now()
    found: dict[str, list[int]] = {role: [] for role in ROLES}
    for pid in below(up_pid, parents) | _spawners(home, parents):
        found[_role_of(pid, up_pid, parents)].append(pid)
    return {role: use_of(pids) for role, pids in found.items()}


def pss_by_process(home: Home, up_pid: int) -> dict[str, list[float]]:
    """Return the memory of each process of a live home, in millions of bytes, by what it calls
    itself. A page that several processes share counts for each as its part.
    """
    parents = parents_now()
    found: dict[str, list[float]] = {}
    for pid in sorted(below(up_pid, parents) | _spawners(home, parents)):
        words = _words(pid)
        if words[0].startswith("postgres:"):
            name = words[0].strip()
        elif SPAWNER_MODULE in words:
            name = "spawner"
        else:
            name = _role_of(pid, up_pid, parents)
        found.setdefault(name, []).append(use_of([pid]).pss_mb)
    return found


def cpu_s_below(pid: int) -> float:
    """Return the time that all descendants of a process have used, without its own."""
    return use_of(list(below(pid, parents_now()) - {pid})).cpu_s


def _role_of(pid: int, up_pid: int, parents: Mapping[int, int]) -> str:
    """Return the role of the nearest process above that says which it is."""
    while pid not in {up_pid, 0}:
        words = _words(pid)
        if words and Path(words[0].split(":")[0]).name == "postgres":
            return "postgres"
        if SPAWNER_MODULE in words:
            return "worker"
        for module, role in _MODULES.items():
            if module in words:
                return role
        pid = parents.get(pid, 0)
    return "up"


def parents_now() -> dict[int, int]:
    """Return the parent of each process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            found[int(entry.name)] = int(fields[1])
    return found


def below(top: int, parents: Mapping[int, int]) -> set[int]:
    """Return a process and all its descendants."""
    found = {top}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _spawners(home: Home, parents: Mapping[int, int]) -> set[int]:
    """Return the spawners of a home with their jobs; they may have outlived their parent."""
    mark = b"WEFT_HOME=" + os.fsencode(home.path)
    found: set[int] = set()
    for pid in parents:
        if SPAWNER_MODULE in _words(pid) and mark in _read(pid, "environ").split(b"\0"):
            found |= below(pid, parents)
    return found


def use_of(pids: Sequence[int]) -> Use:
    """Return what these processes have used."""
    cpu_ticks = rss_kib = pss_kib = 0
    for pid in pids:
        fields = _stat(pid)
        if not fields:
            continue
        cpu_ticks += sum(map(int, fields[11:15]))  # user and system time, with waited-for children
        for line in _read(pid, "status").splitlines():
            if line.startswith(b"VmRSS:"):
                rss_kib += int(line.split()[1])
        for line in _read(pid, "smaps_rollup").splitlines():
            if line.startswith(b"Pss:"):
                pss_kib += int(line.split()[1])
    return Use(
        cpu_ticks / _TICKS_PER_S,
        round(rss_kib * _KIB / _MB, 1),
        round(pss_kib * _KIB / _MB, 1),
        len(pids),
    )


def _stat(pid: int) -> list[bytes]:
    """Return the fields of `/proc/PID/stat` after the name; none: it has gone."""
    return _read(pid, "stat").rpartition(b")")[2].split()


def _words(pid: int) -> list[str]:
    return _read(pid, "cmdline").decode(errors="replace").split("\0")


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
