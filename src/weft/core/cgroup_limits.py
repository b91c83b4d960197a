"""What the files of a job's cgroup hold, by what the job reserves (cgroups of version 2)."""

from typing import Final

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
