"""Decide what becomes of the items of a source: the documents of their jobs."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from weft.core.lines.template import ID_VARIABLE, ITEM_VARIABLE
from weft.ports.store.sources import Decision, TakenItem, TakenSource

SOURCE_ATTRIBUTE = "source"
ITEM_ATTRIBUTE = "item"


async def decide(taken: TakenSource, items: Sequence[TakenItem]) -> list[Decision]:
    """Return what becomes of each item."""
    return [Decision(one.n, "ready", document=job_of(taken, one)) for one in items]


def job_of(taken: TakenSource, item: TakenItem) -> Mapping[str, Any]:
    """Return the document of the job of an item: the template, and the item as environment."""
    job = dict(taken.template["job"])
    told = {
        ITEM_VARIABLE: msgspec.json.encode({**item.fields, "key": item.key}).decode(),
        ID_VARIABLE: item.key,
    }
    job["name"] = item.key
    job["env"] = {**job.get("env", {}), **told}
    job["attributes"] = {
        **job.get("attributes", {}),
        SOURCE_ATTRIBUTE: taken.name,
        ITEM_ATTRIBUTE: item.key,
    }
    return job
