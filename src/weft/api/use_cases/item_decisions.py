"""Decide what becomes of the items of a source: the documents of their jobs."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from weft.core.lines.configuration import CannotConfigure, MustWait, configure, parameters_of
from weft.core.lines.parameters import PARAMETERS_MAX, bound
from weft.core.lines.template import ID_VARIABLE, ITEM_VARIABLE
from weft.ports.store.api import ApiStore
from weft.ports.store.sources import Decision, TakenItem, TakenSource

SOURCE_ATTRIBUTE = "source"
ITEM_ATTRIBUTE = "item"


WAIT_S: Final = 10.0
"""Until an item that lacks something is looked at again."""


@dataclass(frozen=True)
class _Known:
    """What configurations read beside the item."""

    values: Mapping[str, Any]
    versions: Mapping[str, int]


_NOTHING: Final = _Known({}, {})


async def decide(
    store: ApiStore, taken: TakenSource, items: Sequence[TakenItem]
) -> list[Decision]:
    """Return what becomes of each item."""
    rules = taken.template.get("configure")
    if not rules:
        return [_decided(taken, one, _NOTHING) for one in items]
    names = await asyncio.to_thread(parameters_of, rules)  # the library of CEL may be loaded
    known = await _read(store, taken, names) if names else _NOTHING
    return await asyncio.to_thread(lambda: [_decided(taken, one, known) for one in items])


async def _read(store: ApiStore, taken: TakenSource, names: set[str]) -> _Known:
    rows = await store.list_parameters(
        taken.owner, names=sorted(names), as_of=None, after="", limit=PARAMETERS_MAX
    )
    return _Known(
        {row["parameter"]: bound(row["type"], row["value"]) for row in rows},
        {row["parameter"]: row["version"] for row in rows},
    )


def _decided(taken: TakenSource, item: TakenItem, known: _Known) -> Decision:
    try:
        rules = taken.template.get("configure", {})
        found = configure(rules, {**item.fields, "key": item.key}, known.values)
    except CannotConfigure as error:
        return Decision(item.n, "refused", reason=str(error))
    except MustWait as error:
        return Decision(item.n, "waiting", reason=str(error), due_in_s=WAIT_S)
    versions = {name: known.versions[name] for name in sorted(found.parameters)}
    if found.cancelled:
        return Decision(item.n, "cancelled", reason="cancel_if is true", parameters=versions)
    document = job_of(taken, item, found.fields, versions)
    return Decision(item.n, "ready", document=document, parameters=versions)


def job_of(
    taken: TakenSource,
    item: TakenItem,
    configured: Mapping[str, Any],
    versions: Mapping[str, int],
) -> Mapping[str, Any]:
    """Return the document of the job of an item: the template, what was configured, the item as
    environment, and the versions of parameters as attributes.
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
    used = {f"param.{name}": str(version) for name, version in versions.items()}
    job["attributes"] = {**job.get("attributes", {}), **used, **marks}
    return job
