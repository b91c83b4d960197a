"""What the log of a throw-away server tells of waits for locks."""

import re
from collections.abc import Mapping

import asyncpg

from benches.queries import query
from weft.run.home import Home

WAIT_MS_MIN = 10
"""Shorter waits are not in the log."""
_WAIT = re.compile(r"process \d+ acquired (\w+ on \w+).* after ([\d.]+) ms")


async def log_lock_waits(admin_dsn: str) -> None:
    """Let the server log each wait for a lock of `WAIT_MS_MIN` or more."""
    connection = await asyncpg.connect(admin_dsn)
    try:  # one by one: ALTER SYSTEM takes no transaction
        for statement in query("log_lock_waits").strip().removesuffix(";").split(";"):
            await connection.execute(statement)
    finally:
        await connection.close()


def lock_waits(home: Home) -> Mapping[str, list[float]]:
    """Return the milliseconds of each wait in the server's log, by lock."""
    waits: dict[str, list[float]] = {}
    text = (home.role_logs / "postgres.log").read_text(errors="replace")
    for lock, ms in _WAIT.findall(text):
        waits.setdefault(lock, []).append(float(ms))
    return waits
