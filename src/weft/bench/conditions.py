"""Under which conditions a figure was measured."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
