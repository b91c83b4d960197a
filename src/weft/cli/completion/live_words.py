"""Words that only the server knows: ids of batches and jobs, paths of groups, and names.

A Tab waits for them, so little is asked for, and whatever goes wrong, there are none.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from weft.cli.terminal.names import job_name, state_words
from weft.client.api import Api
from weft.core.errors import WeftError
from weft.core.ids import (
    format_batch_id,
    format_condition_id,
    format_job_ref,
    format_schedule_id,
    parse_batch_id,
)
from weft.core.text.amounts import counted

WITHIN_S = 3.0
"""A server that answers later is as good as none: somebody waits for the cursor. One that is not
busy answers within 100 ms."""
ROWS = 100
MAGNITUDES = 6
"""Digits that may follow those of a job's number."""
NAME_CHARS = 40
Words = Mapping[str, str]
"""Each with what tells it from the others, or nothing."""


def ask_server(kind: str, begun: str, *, home: str | None, visit: str | None) -> Words:
    """Return the words of this kind, of large numbers those that may begin like `begun`; those of
    the tenant that is visited. No visit shows the tenants of the site.
    """
    with suppress(WeftError, OSError, TimeoutError, ValueError):
        client = Api(
            home=None if home is None else Path(home),
            visit="" if kind == "tenants" else visit,
            patience_s=0,
        )
        return asyncio.run(_ask(client, kind, begun))
    return {}


async def _ask(client: Api, kind: str, begun: str) -> Words:
    async with asyncio.timeout(WITHIN_S), client:
        return await ASKS[kind](client, begun)


def number_query(digits: str) -> str | None:
    """Return the query for numbers of jobs that begin with these digits; None: for all."""
    if not digits.isdecimal() or not digits.isascii():
        return None
    terms = [f"job_id = {int(digits)}"]
    for power in range(1, MAGNITUDES + 1):
        least = int(digits) * 10**power
        terms.append(f"(job_id >= {least} and job_id < {least + 10**power})")
    return " or ".join(terms)


async def _targets(client: Api, begun: str) -> Words:
    """Return batches; after `b12.` its jobs, after `b12/` its groups."""
    if "/" in begun:
        batch_id = parse_batch_id(begun.partition("/")[0])
        groups = await client.list_groups(batch_id).next_page()
        names = ((str(one["path"] or one["name"]).lstrip("/"), one) for one in groups)
        return {
            f"{format_batch_id(batch_id)}/{name}": _told(
                counted(one["n_jobs"], "job"), state_words(one)
            )
            for name, one in names
            if name
        }
    if "." in begun:
        batch_id = parse_batch_id(begun.partition(".")[0])
        digits = begun.partition(".")[2].removeprefix("j")
        jobs = client.list_jobs(batch_id, number_query(digits), page_rows=ROWS)
        return {
            format_job_ref(batch_id, one["job_id"]): _told(
                job_name(one, width=NAME_CHARS), state_words(one)
            )
            for one in await jobs.next_page()
        }
    batches = await client.list_batches(page_rows=ROWS).next_page()
    return {format_batch_id(one["id"]): _told(one["name"], state_words(one)) for one in batches}


def _told(name: str | None, state: str) -> str:
    return f"{name[:NAME_CHARS]}, {state}" if name else state


async def _conditions(client: Api, _: str) -> Words:
    found = await client.list_conditions().next_page()
    return {
        format_condition_id(one["condition_id"]): _told(
            one["condition"], counted(one["n_jobs"], "job")
        )
        for one in found
    }


async def _schedules(client: Api, _: str) -> Words:
    found = await client.list_schedules().next_page()
    return {
        format_schedule_id(one["schedule_id"]): _told(one["name"], one["cron"]) for one in found
    }


async def _at_queries(client: Api, _: str) -> Words:
    saved_queries = await client.list_saved_queries()
    return {f"@{query['name']}": query["query"] for query in saved_queries}


async def _operations(client: Api, _: str) -> Words:
    """Return those that can be cancelled."""
    found = await client.list_operations().next_page()
    return {
        str(one["id"]): f"{one['result']['action']} batches"
        for one in found
        if one["batch_id"] is None and one["state"] == "running"
    }


async def _flavours(client: Api, _: str) -> Words:
    plans = [pool["plan"] for pool in await client.list_pools()]
    return {
        one["name"]: f"pool {plan['name']}"
        for plan in plans
        if plan is not None
        for one in plan["flavours"]
    }


def _named(
    rows: Callable[[Api], Awaitable[Iterable[Mapping[str, Any]]]], name: str, told: str = ""
) -> Callable[[Api, str], Awaitable[Words]]:
    async def ask(client: Api, _: str) -> Words:
        return {str(row[name]): str(row[told] or "") if told else "" for row in await rows(client)}

    return ask


ASKS: Mapping[str, Callable[[Api, str], Awaitable[Words]]] = {
    "batches": _targets,
    "conditions": _conditions,
    "schedules": _schedules,
    "@queries": _at_queries,
    "queries": _named(Api.list_saved_queries, "name", "query"),
    "workers": _named(Api.list_workers, "worker", "pool"),
    "queues": _named(Api.list_queues, "name"),
    "pools": _named(Api.list_pools, "pool"),
    "projects": _named(Api.list_projects, "name"),
    "licences": _named(Api.list_licences, "licence"),
    "secrets": _named(Api.list_secrets, "name"),
    "users": _named(lambda client: client.list_users().next_page(), "name", "role"),
    "tenants": _named(lambda client: client.list_tenants().next_page(), "name"),
    "tokens": _named(Api.list_tokens, "token_id", "name"),
    "sessions": _named(Api.list_sessions, "session_id", "browser"),
    "operations": _operations,
    "flavours": _flavours,
}
