"""What a shell completes from the server: ids of batches and jobs, paths of groups, and names.

It runs at each press of Tab. So it decides by tables whether there is anything to ask, before
anything is imported, asks for little, and is silent about whatever goes wrong.
"""

import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.client.api import Api

WITHIN_S = 3.0
"""A server that answers later is as good as none: somebody waits for the cursor. One that is not
busy answers within 100 ms."""
WORDS_MAX = 100
MAGNITUDES = 6
"""Digits that may follow those of a job's number."""
_SAFE = re.compile(r"[\w/@][\w.,/+%-]*")
"""Words that no shell takes apart or runs. Others are not offered: they can still be typed."""

ONE_TARGET = frozenset({
    "failures", "extend", "groups", "jobs", "logs", "message", "rename", "set", "share", "signal",
    "status", "unshare", "why",
})  # fmt: skip
TARGETS = frozenset({
    "cancel", "delete", "hide", "hold", "release", "resubmit", "retry", "unhide", "wait",
})  # fmt: skip
_PROJECT = ("close", "delete", "limit", "members", "reopen", "show")
NAMED: Mapping[tuple[str, ...], str] = {
    **{("worker", word): "workers" for word in ("cordon", "drain", "show", "uncordon")},
    **{("queue", word): "queues" for word in ("drain", "show")},
    **{("pool", word): "pools" for word in ("cost", "log", "show")},
    **{("condition", word): "conditions" for word in ("fail", "release", "show", "test")},
    **{("billing", "project", word): "projects" for word in _PROJECT},
    ("query", "rm"): "queries",
    ("callback", "ls"): "batches",
    ("callback", "redeliver"): "batches",
    ("failures", "ack"): "batches",
}
OPTIONS: Mapping[str, str] = {
    "--queue": "queues", "--pool": "pools", "--project": "projects", "--batch": "batches",
}  # fmt: skip
FLAGS = frozenset({"--json", "--force", "--failed", "--follow", "-f", "--all"})


def print_live_words(words: Sequence[str]) -> None:
    """Print what the last of these words may become, a line each; nothing if that is unknown."""
    kind = kind_of(words)
    if kind is None:
        return
    import asyncio  # noqa: PLC0415 (only now is it needed)

    from weft.core.errors import WeftError  # noqa: PLC0415

    found: list[str] = []
    with suppress(WeftError, OSError, TimeoutError, ValueError):
        found = asyncio.run(_ask(kind, words[-1], _home(words)))
    sys.stdout.write("".join(f"{word}\n" for word in offered(found, words[-1])))
    sys.stdout.flush()


def kind_of(words: Sequence[str]) -> str | None:
    """Return what the last word is: `batches`, `workers` …; None: nothing of the server."""
    *before, current = words or [""]
    if current.startswith("-") or not before or "--" in before:
        return None
    last = before[-1]
    if last.startswith("-") and last not in FLAGS:
        return OPTIONS.get(last)
    command = before[0]
    given = [word for word in before[1:] if not word.startswith("-")]
    for path, kind in NAMED.items():
        if tuple([command, *given][: len(path)]) == path:
            return kind
    if command == "ls" and (current.startswith("@") or last == "@"):
        return "@queries"
    if command in TARGETS or (command in ONE_TARGET and not given):
        return "batches"
    return None


def offered(found: Sequence[str], current: str) -> list[str]:
    """Return the words that begin like the current one, and that no shell misreads."""
    begins = (word for word in found if word.startswith(current) and _SAFE.fullmatch(word))
    return list(dict.fromkeys(begins))[:WORDS_MAX]


def number_query(digits: str) -> str | None:
    """Return the query for numbers of jobs that begin with these digits; None: for all."""
    if not digits.isdecimal() or not digits.isascii():
        return None
    terms = [f"job_id = {int(digits)}"]
    for power in range(1, MAGNITUDES + 1):
        least = int(digits) * 10**power
        terms.append(f"(job_id >= {least} and job_id < {least + 10**power})")
    return " or ".join(terms)


def _home(words: Sequence[str]) -> Path | None:
    for word, after in zip(words, (*words[1:], ""), strict=True):
        if word.startswith("--home="):
            return Path(word.removeprefix("--home="))
        if word == "--home" and after:
            return Path(after)
    return None


async def _ask(kind: str, current: str, home: Path | None) -> list[str]:
    import asyncio  # noqa: PLC0415

    from weft.client.api import Api  # noqa: PLC0415

    async with asyncio.timeout(WITHIN_S), Api(home=home, patience_s=0) as client:
        return await _ASKS[kind](client, current)


async def _targets(client: "Api", current: str) -> list[str]:
    """Return batches; after `b12.` its jobs, after `b12/` its groups."""
    from weft.core.ids import format_batch_id, format_job_ref, parse_batch_id  # noqa: PLC0415

    if "/" in current:
        batch_id = parse_batch_id(current.partition("/")[0])
        groups = await client.list_groups(batch_id).next_page()
        names = (str(one["path"] or one["name"]).lstrip("/") for one in groups)
        return [f"{format_batch_id(batch_id)}/{name}" for name in names if name]
    if "." in current:
        batch_id = parse_batch_id(current.partition(".")[0])
        digits = current.partition(".")[2].removeprefix("j")
        jobs = client.list_jobs(batch_id, number_query(digits), page_rows=WORDS_MAX)
        return [format_job_ref(batch_id, one["job_id"]) for one in await jobs.next_page()]
    batches = await client.list_batches(page_rows=WORDS_MAX).next_page()
    return [format_batch_id(one["id"]) for one in batches]


async def _workers(client: "Api", _: str) -> list[str]:
    return [one["worker"] for one in await client.list_workers()]


async def _queues(client: "Api", _: str) -> list[str]:
    return [one["name"] for one in await client.list_queues()]


async def _pools(client: "Api", _: str) -> list[str]:
    return [one["pool"] for one in await client.list_pools()]


async def _projects(client: "Api", _: str) -> list[str]:
    return [one["name"] for one in await client.list_projects()]


async def _queries(client: "Api", _: str) -> list[str]:
    return [one["name"] for one in await client.list_saved_queries()]


async def _at_queries(client: "Api", current: str) -> list[str]:
    """Return `@NAME`; bash takes the sign for a word of its own."""
    sign = "@" if current.startswith("@") else ""
    return [f"{sign}{name}" for name in await _queries(client, current)]


async def _conditions(client: "Api", _: str) -> list[str]:
    from weft.core.ids import format_condition_id  # noqa: PLC0415

    found = await client.list_conditions().next_page()
    return [format_condition_id(one["condition_id"]) for one in found]


_ASKS: Mapping[str, Callable[["Api", str], Awaitable[list[str]]]] = {
    "batches": _targets, "workers": _workers, "queues": _queues, "pools": _pools,
    "projects": _projects, "conditions": _conditions, "queries": _queries, "@queries": _at_queries,
}  # fmt: skip
