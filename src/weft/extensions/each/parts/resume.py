"""`--resume`: leave out the lines that succeeded in earlier runs of the same name."""

from collections import Counter
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from weft.cli.terminal.progress import ProgressLine
from weft.cli.terminal.report import note
from weft.client.api import Api
from weft.core.errors import BadId, NotFound
from weft.core.ids import format_batch_id, parse_batch_id

ATTRIBUTE = "weft.each"
"""Attribute of a batch of `weft each`: `new`, or `resumed` if it goes on with older ones of its
name.
"""


class NothingToResume(NotFound):
    """No earlier run has this name."""

    code = "CLI.NOTHING_TO_RESUME"


@dataclass(frozen=True)
class EarlierRuns:
    """The outcome of earlier runs."""

    name: str
    succeeded: Counter[str]
    """Names of jobs, and the number of each."""


async def find_earlier(client: Api, text: str) -> EarlierRuns:
    """Return what the runs called `text`, or the run of batch `text`, have done.

    One that is not complete (its `weft each` was killed) is waited for: its jobs are not run
    twice.
    """
    batches = await _runs(client, text)
    succeeded: Counter[str] = Counter()
    for batch in batches:
        await _wait_until_complete(client, batch)
        async for job in client.list_jobs(batch["id"], states=["success"]):
            succeeded[job["name"]] += 1
    return EarlierRuns(str(batches[0]["name"]), succeeded)


async def _runs(client: Api, text: str) -> list[Mapping[str, Any]]:
    """Return the batches of the last new run and what resumed it, newest first."""
    found: list[Mapping[str, Any]] = []
    async for batch in client.list_batches(name=await _name(client, text)):
        kind = (batch.get("attributes") or {}).get(ATTRIBUTE)
        if kind is None:
            continue
        found.append(batch)
        if kind == "new":
            break
    if not found:
        raise NothingToResume(
            f"no earlier run of `weft each` is named {text!r}",
            detail="A run is identified by its --name or by its batch.",
            hint="`weft ls` lists batches and their names.",
        )
    return found


async def _name(client: Api, text: str) -> str:
    """Return the name of a batch that was given by its id, else the text itself."""
    try:
        batch = await client.get_batch(parse_batch_id(text))
    except (BadId, NotFound):
        return text
    return str(batch["name"] or text)


async def _wait_until_complete(client: Api, batch: Mapping[str, Any]) -> None:
    if batch["complete"]:
        return
    name = format_batch_id(batch["id"])
    n_left = batch["n_jobs"] - batch["n_completed"]
    note(f"{name} still has {n_left:,} unfinished jobs of an earlier run; waiting for them")
    with ProgressLine(name) as progress:
        async with aclosing(client.watch_batch(batch["id"])) as documents:
            async for document in documents:
                progress.update(document)
