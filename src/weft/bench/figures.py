"""The arithmetic and the form of results, under which conditions a figure was measured, and what
the server writes for each job: bytes of WAL, and commits; no machine changes them.
"""

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import asyncpg

from weft import __version__
from weft.sql import files_of

DURABLE = ("fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "data_checksums")
_GIB = 2**30


def load_average() -> float:
    """Return the load of the last minute. Ask before the bench makes its own."""
    return round(os.getloadavg()[0], 2)


async def conditions_of(
    admin_dsn: str, home: Path, *, load_before: float, sizes: Mapping[str, int | float]
) -> dict[str, Any]:
    """Return machine, versions, sizes, and the settings of durability as the server says them."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        rows = await connection.fetch(query("settings"), [*DURABLE, "server_version"])
    finally:
        await connection.close()
    settings = {row["name"]: row["setting"] for row in rows}
    return {
        **machine_conditions(load_before=load_before, sizes=sizes),
        "file_system": _file_system(home),
        "postgresql": settings.pop("server_version"),
        "durable": settings,
    }


def machine_conditions(*, load_before: float, sizes: Mapping[str, int | float]) -> dict[str, Any]:
    """Return machine, versions and sizes, of a bench without a server."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": _cpu_model(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "weft": __version__,
        "load_before": load_before,
        "sizes": dict(sizes),
    }


def query(name: str) -> str:
    """Return the text of a query of `sql/bench`."""
    return next(file.text for file in files_of("bench") if file.name == name)


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _file_system(path: Path) -> str:
    """Return the type of the file system that holds a path: durability means nothing on tmpfs."""
    found, longest = "unknown", -1
    for line in Path("/proc/mounts").read_text().splitlines():
        _, escaped, kind, *_ = line.split(" ")
        mount = escaped.encode().decode("unicode_escape")
        if path.is_relative_to(mount) and len(mount) >= longest:
            found, longest = kind, len(mount)
    return found


PERCENT = 100


class Headline(NamedTuple):
    """What each bench says first."""

    unit: str
    weft: Any
    reference: Any
    ratio: float | None
    """None: there is nothing to compare with."""


def document_of(
    headline: Headline, figures: Mapping[str, Any], conditions: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the document of a bench: its headline, its own figures, and where it ran."""
    return {**headline._asdict(), **figures, "conditions": conditions}


def median_rate(rates: Sequence[float]) -> int:
    """Return the median of rates, in whole jobs per second."""
    return round(median(rates))


def ratio_of(weft: float, reference: float) -> float:
    """Return how many times the reference weft is."""
    return round(weft / reference, 3) if reference else 0.0


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile of values, interpolated between neighbours.

    >>> percentile([1.0, 2.0, 3.0], 50)
    2.0
    """
    if len(values) == 1:
        return values[0]
    return quantiles(values, n=PERCENT, method="inclusive")[percent - 1]


Written = tuple[float, float]
"""Bytes of WAL and commits since the server began."""


async def written(admin_dsn: str) -> Written:
    """Return what the server has written until now; commits of the last second may be missing."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        row = await connection.fetchrow(query("written"))
    finally:
        await connection.close()
    return row["wal_bytes"], row["commits"]


def written_for(before: Written, after: Written, jobs: int) -> dict[str, float]:
    """Return `wal_bytes` and `commits` of each of these jobs."""
    return {
        "wal_bytes": round((after[0] - before[0]) / jobs),
        "commits": round((after[1] - before[1]) / jobs, 4),
    }
