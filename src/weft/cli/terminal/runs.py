"""The runs of `weft each` that go on with each other."""

from collections import defaultdict, deque
from collections.abc import Sequence

from weft.client.api import Api, Document

ATTRIBUTE = "weft.each"
"""Attribute of a batch of `weft each`: `new`, or `resumed` if it goes on with older ones of its
name.
"""


async def find_runs(client: Api, name: str) -> list[Document]:
    """Return the last new run of `weft each` of this name and what resumed it, newest first."""
    found: list[Document] = []
    async for batch in client.list_batches(name=name):
        kind = _kind(batch)
        if kind is not None:
            found.append(batch)
        if kind == "new":
            break
    return found


async def earlier_runs(client: Api, batch: Document) -> list[Document]:
    """Return the runs that a batch goes on with, oldest first."""
    if _kind(batch) != "resumed":
        return []
    runs = await find_runs(client, str(batch["name"]))
    return [run for run in reversed(runs) if run["id"] < batch["id"]]


def _kind(batch: Document) -> str | None:
    return (batch.get("attributes") or {}).get(ATTRIBUTE)


def whole_run(runs: Sequence[Sequence[Document]]) -> list[Document]:
    """Return the jobs of such runs, oldest first, as one run: a job that did not succeed makes way
    for the next one of its name.
    """
    whole: list[Document] = []
    unfinished: dict[str, deque[int]] = defaultdict(deque)
    for jobs in runs:
        again: list[tuple[str, int]] = []
        for job in jobs:
            waiting = unfinished[job["name"]]
            at = waiting.popleft() if waiting else len(whole)
            whole[at : at + 1] = [job]
            if job["state"] != "success":
                again.append((job["name"], at))
        for name, at in again:
            unfinished[name].append(at)
    return whole
