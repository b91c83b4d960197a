"""Whether jobs get cgroups with limits of what they reserve, and why not (ADR 71).

The host must have delegated a cgroup of version 2 in which no process runs. Below it each worker
has a directory, and below that each attempt (`worker/spawner/cgroups.py`).
"""

import hashlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.core.errors import Conflict

CONTROLLERS: Final = ("cpu", "memory", "pids")
_MIB: Final = 1 << 20
_PERIOD_US: Final = 100_000
_QUOTA_US_MIN: Final = 1000
_WEIGHT_OF_CORE: Final = 100
_WEIGHT_MAX: Final = 10_000


def cgroup_limits(
    *, cpu_m: int, memory_mib: int, has_quota: bool, processes_max: int
) -> tuple[tuple[str, str], ...]:
    """Return files and what is written to them, in order. `has_quota`: the job never gets more
    cores than it reserves; else it may use those that are idle, and shares the others by weight.

    >>> cgroup_limits(cpu_m=500, memory_mib=64, has_quota=True, processes_max=9)[2:]
    (('memory.max', '67108864'), ('memory.swap.max', '0'), ('cpu.max', '50000 100000'))
    """
    limits = [("memory.oom.group", "1"), ("pids.max", str(processes_max))]
    if memory_mib:
        # Without swap: what does not fit is not moved to a disk that others use.
        limits += [("memory.max", str(memory_mib * _MIB)), ("memory.swap.max", "0")]
    if has_quota:
        quota_us = max(_QUOTA_US_MIN, cpu_m * _PERIOD_US // 1000)
        limits.append(("cpu.max", f"{quota_us} {_PERIOD_US}"))
    else:
        weight = min(_WEIGHT_MAX, max(1, cpu_m * _WEIGHT_OF_CORE // 1000))
        limits.append(("cpu.weight", str(weight)))
    return tuple(limits)


_DELEGATE = (
    "Delegate one: `Delegate=yes` and `DelegateSubgroup=weft` in the unit of the worker (systemd "
    "254), or name it in `job_cgroup`."
)
_BOOT = (
    "Boot the host with cgroups of version 2 alone "
    "(kernel parameter systemd.unified_cgroup_hierarchy=1). "
)
_SAID_MAX = 120


class NoCgroup(Conflict, code="WORKER.NO_CGROUP"):
    """The setting `job_limits` asks for cgroups of jobs, but none can be made."""


@dataclass(frozen=True)
class JobCgroup:
    """Where cgroups of jobs can be made."""

    directory: Path | None = None
    """The delegated one; None: there is none."""
    why_not: str = ""
    way_out: str = ""


def find_job_cgroup(wanted: str = "", proc: Path = Path("/proc/self")) -> JobCgroup:
    """Return the delegated cgroup: the one that is wanted or, if that is empty, the one in which
    this process has a cgroup of its own. Tries to enter it, and leaves nothing behind.
    """
    try:
        directory = Path(wanted) if wanted else _around_us(proc)
        if not wanted and directory.suffix == ".slice":
            # Root, and the user of a user manager, may write there, but it is systemd's.
            why_not = f"{directory} belongs to systemd, which delegates no slices"
            return JobCgroup(why_not=why_not, way_out=_DELEGATE)
        if missing := _missing(directory):
            why_not = f"{directory} lacks controllers: {', '.join(missing)}"
            return _of_version_1(proc, missing, why_not)
        if why_not := _why_not(directory):
            return JobCgroup(why_not=why_not, way_out=_DELEGATE)
    except FileNotFoundError as error:
        return _of_version_1(proc, CONTROLLERS, _words_of(error))
    except OSError as error:
        return JobCgroup(why_not=_words_of(error), way_out=_DELEGATE)
    return JobCgroup(directory)


def _of_version_1(proc: Path, missing: Sequence[str], why_not: str) -> JobCgroup:
    """Return that these controllers are missing, and whether because the host has them in version
    1: then nothing can be delegated before it is booted anew.
    """
    try:
        lines = (proc / "mountinfo").read_text().splitlines()
    except OSError:
        lines = []
    mounts = [words for line in lines if (words := line.partition(" - ")[2].split())]
    of_first = {name for words in mounts if words[0] == "cgroup" for name in words[-1].split(",")}
    if older := [one for one in missing if one in of_first]:
        why_not += f"; this host has {', '.join(older)} in version 1, which weft does not use"
        return JobCgroup(why_not=why_not, way_out=_BOOT + _DELEGATE)
    return JobCgroup(why_not=why_not, way_out=_DELEGATE)


def worker_cgroup(delegated: Path, lock: Path) -> Path:
    """Return the cgroup of a worker. `lock`: of its spawner, which no other worker of this host
    has: all that is in the cgroup dies with that spawner.
    """
    of_worker = hashlib.sha256(str(lock.absolute()).encode()).hexdigest()[:16]
    return delegated / f"weft-{of_worker}"


def prepare_cgroup(delegated: Path, own: Path) -> None:
    """Make the cgroup of a worker, and let those below it have limits. Raise `NoCgroup`."""
    try:
        _enable(delegated)
        own.mkdir(exist_ok=True)
        _enable(own)
    except OSError as error:
        raise no_cgroup(JobCgroup(why_not=_words_of(error), way_out=_DELEGATE)) from error


def no_cgroup(cgroup: JobCgroup) -> NoCgroup:
    """Return the error of a worker that must have cgroups for its jobs."""
    return NoCgroup(
        "cannot limit jobs",
        detail=f"The reason: {cgroup.why_not}.",
        hint=f"{cgroup.way_out} `job_limits = never` lets jobs use what they like.",
    )


def _around_us(proc: Path) -> Path:
    """Return the cgroup around ours. Ours has processes, so there is none with limits below it."""
    mount = _mount_of((proc / "mountinfo").read_text().splitlines())
    lines = (proc / "cgroup").read_text().splitlines()
    ours = next((line[3:] for line in lines if line.startswith("0::")), "/")
    return (Path(mount) / ours.lstrip("/")).parent if ours != "/" else Path(mount)


def _mount_of(lines: Sequence[str]) -> str:
    """Return where cgroups of version 2 are mounted."""
    for line in lines:
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 "):
            return before.split()[4]
    return "/sys/fs/cgroup"


def _missing(directory: Path) -> Sequence[str]:
    """Return the controllers that cgroups there cannot have. Raise `OSError`."""
    there = (directory / "cgroup.controllers").read_text().split()
    return [controller for controller in CONTROLLERS if controller not in there]


def _why_not(directory: Path) -> str:
    """Return why no cgroups can be made there; empty: they can. Raise `OSError`."""
    entrances = (directory, directory / "cgroup.procs", directory / "cgroup.subtree_control")
    if not all(os.access(entrance, os.W_OK) for entrance in entrances):
        return f"{directory} is not delegated to this user"
    if (directory / "cgroup.procs").read_text().strip():
        return f"processes run in {directory} itself"
    return _tried(directory / f"weft-proof-{os.getpid()}")


def _tried(probe: Path) -> str:
    """Return why no process can enter a cgroup there; empty: one could."""
    probe.mkdir()
    try:
        with (probe / "cgroup.procs").open("w") as entrance:
            done = subprocess.run(
                ["/bin/sh", "-c", "echo 0"],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=entrance,
                stderr=subprocess.PIPE,
                timeout=10,
                text=True,
            )
    finally:
        probe.rmdir()
    said = done.stderr.strip()[:_SAID_MAX]
    return f"no process can enter {probe.parent}: {said}" if done.returncode else ""


def _words_of(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror}"


def _enable(directory: Path) -> None:
    """Let cgroups below this one have limits."""
    control = directory / "cgroup.subtree_control"
    missing = set(CONTROLLERS) - set(control.read_text().split())
    if missing:
        with control.open("r+") as file:
            file.write(" ".join(f"+{one}" for one in sorted(missing)))
