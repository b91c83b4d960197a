"""Decide what becomes of the items of a source: the documents of their jobs."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from weft.core.lines.configuration import CannotConfigure, configure
from weft.core.lines.template import ID_VARIABLE, ITEM_VARIABLE
from weft.ports.store.sources import Decision, TakenItem, TakenSource

SOURCE_ATTRIBUTE = "source"
ITEM_ATTRIBUTE = "item"


async def decide(taken: TakenSource, items: Sequence[TakenItem]) -> list[Decision]:
    """Return what becomes of each item."""
    if not taken.template.get("configure"):
        return [_decided(taken, one) for one in items]
    return await asyncio.to_thread(lambda: [_decided(taken, one) for one in items])


def _decided(taken: TakenSource, item: TakenItem) -> Decision:
    try:
        found = configure(taken.template.get("configure", {}), {**item.fields, "key": item.key})
    except CannotConfigure as error:
        return Decision(item.n, "refused", reason=str(error))
    if found.cancelled:
        return Decision(item.n, "cancelled", reason="cancel_if is true")
    return Decision(item.n, "ready", document=job_of(taken, item, found.fields))


def job_of(
    taken: TakenSource, item: TakenItem, configured: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the document of the job of an item: the template, what was configured, and the item
    as environment.
    """
    job = {**taken.template["job"], **configured, "name": item.key}
    for field in ("env", "attributes", "resources"):
        both = {**taken.template["job"].get(field, {}), **configured.get(field, {})}
        if both:
            job[field] = both
    told = {
        ITEM_VARIABLE: msgspec.json.encode({**item.fields, "key": item.key}).decode(),
        ID_VARIABLE: item.key,
    }
    job["env"] = {**job.get("env", {}), **told}
    marks = {SOURCE_ATTRIBUTE: taken.name, ITEM_ATTRIBUTE: item.key}
    job["attributes"] = {**job.get("attributes", {}), **marks}
    return job
