"""The cost of an idle weft.

After some jobs a real `weft up` is left alone. Every statement that reaches its server in that
time is counted from the server's own log; the time that its processes used is read from /proc.
"""

import asyncio
import re
from collections import Counter
from pathlib import Path
from typing import Any

import asyncpg

from benches import queries
from weft.bench.figures import Headline, conditions_of, document_of, load_average, query
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.process_tree import ROLES, pss_by_process, use_by_role
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.run.home import Home

WINDOW_S = 60.0
SETTLE_S = 90.0
"""After the last job: longer than a heartbeat, than the server's look for rows to vacuum, and than
connections that nobody uses are kept."""
JOBS = 200
STEPS = 20
HEARTBEATS = frozenset({"heartbeat", "beat_driver", "still_lead"})
"""Statements that each role may send once per heartbeat, by function."""
_STATEMENT = re.compile(r"user=(\w*) LOG:  (?:statement|execute [^:]*): (.*)")
_FUNCTION = re.compile(r"weft\.(\w+)\(")


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return statements, time and memory of a minute without work."""
    load, window_s = load_average(), WINDOW_S * plan.scale
    progress.begin(STEPS + 2)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home) as up_pid:
            progress.step("start and run some jobs")
            await _run_jobs(home)
            progress.step("settle")
            await _log_statements(home)
            await asyncio.sleep(min(SETTLE_S, SETTLE_S * plan.scale))
            log_file = home.role_logs / "postgres.log"
            begin = log_file.stat().st_size
            before = use_by_role(home, up_pid)
            for number in range(STEPS):
                progress.step(f"wait, {window_s * number / STEPS:.0f} of {window_s:.0f} s")
                await asyncio.sleep(window_s / STEPS)
            after = use_by_role(home, up_pid)
            heartbeats, others = _statements(log_file, begin)
            admin = home.secrets()["admin"]
            sessions, processes = await _sessions(admin), pss_by_process(home, up_pid)
            sizes = {"window_s": window_s, "jobs_before": JOBS}
            conditions = await conditions_of(admin, home.path, load_before=load, sizes=sizes)
    cpu = {role: _percent(after[role].cpu_s - before[role].cpu_s, window_s) for role in ROLES}
    figures = {
        "statements": others.total(),
        "cpu_percent": round(sum(cpu.values()), 3),
        "pss_mb": {role: after[role].pss_mb for role in ROLES},
        "sessions": len(sessions),
    }
    return document_of(
        Headline("statements, % of a core, MB", figures, None, None),
        {
            **figures,
            "cpu_percent_by_role": cpu,
            "rss_mb": {role: after[role].rss_mb for role in ROLES},
            "pss_mb_total": round(sum(after[role].pss_mb for role in ROLES), 1),
            "pss_mb_by_process": processes,
            "processes": {role: after[role].processes for role in ROLES},
            "sessions_at_rest": sessions,
            "heartbeats": dict(heartbeats),
            "other_statements": dict(others),
        },
        conditions,
    )


async def _run_jobs(home: Home) -> None:
    async with client_of(home) as client:
        batch = await client.submit({"jobs": [{"command": ["/bin/true"]}] * JOBS})
        async for _ in client.watch_batch(int(batch["id"])):
            pass


async def _log_statements(home: Home) -> None:
    connection = await asyncpg.connect(home.secrets()["admin"])
    try:
        for statement in query("log_statements").strip().removesuffix(";").split(";"):
            await connection.execute(statement)  # one by one: ALTER SYSTEM takes no transaction
    finally:
        await connection.close()


async def _sessions(admin_dsn: str) -> list[dict[str, Any]]:
    """Return who is connected to the server."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        return [dict(row) for row in await connection.fetch(queries.query("sessions"))]
    finally:
        await connection.close()


def _statements(log_file: Path, begin: int) -> tuple[Counter[str], Counter[str]]:
    """Return how often which heartbeat, and which other statement, stands in the log."""
    heartbeats: Counter[str] = Counter()
    others: Counter[str] = Counter()
    text = log_file.read_bytes()[begin:].decode(errors="replace")
    for user, statement in _STATEMENT.findall(text):
        function = _FUNCTION.search(statement)
        name = function[1] if function else _name_of(statement)
        (heartbeats if name in HEARTBEATS else others)[f"{user}: {name}"] += 1
    return heartbeats, others


def _name_of(statement: str) -> str:
    """Return what a statement without a function is called: the leader's look at its connection
    is an empty query.
    """
    bare = statement.strip().rstrip(";")
    return "still_lead" if bare.upper() == "SELECT" else bare[:80]


def _percent(cpu_s: float, window_s: float) -> float:
    return round(100 * cpu_s / window_s, 3)
