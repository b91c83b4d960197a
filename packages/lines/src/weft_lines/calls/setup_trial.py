"""Try the file of a production line: what it would change, and what would be made of an item."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final
from uuid import UUID

import msgspec

from weft.api.calls.call import DecodeBatch, call
from weft.api.calls.path_ids import SetupName
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.bounded import read_toml
from weft.core.deliveries.sinks import target_of
from weft.core.errors import SetupNotFound
from weft.core.ids import format_job_ref
from weft.core.lines.line import Sink
from weft.core.text.filling import CannotFill
from weft.ports.source import SourceRead
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.answers.setups import SetupTried
from weft.wire.documents.setups import SetupTrial
from weft_lines.calls.lines import checked_setup
from weft_lines.calls.source_trial import read_source, tried_source

_NO_MAKER: Final = "this api makes no messages"
_NO_PRODUCT: Final = "its messages are made of products: give one"


@call(
    "POST /v1/setups/{setup}/trial", Right.OPERATE, SetupTried, client="test_setup", public=False
)
async def try_setup(
    services: Services, caller: Caller, name: SetupName, document: SetupTrial, decode: DecodeBatch
) -> Answer:
    """Check the file of a production line: what it would change, and, of an item of each source,
    the job and the messages that would be made. Nothing is kept or sent. Raise `InvalidSetup`.
    """
    text, setup, secrets = await checked_setup(services, caller, name, document.document, decode)
    try:
        before = (await services.store.get_setup(caller, name))["document"]
    except SetupNotFound:
        before = ""
    most = services.settings.secrets_per_user_max
    rows, parameters = await services.store.try_setup(caller, name, text, setup, secrets, most)
    sources = []
    for source in setup.sources if document.read else ():
        if (item := document.item) is None:
            read = await read_source(services, caller, source, rows[source])
        else:
            key = str(item.get("key", "item"))
            read = SourceRead(({"key": key, "fields": {**item, "key": key}, "error": None},))
        answer = await tried_source(
            services, caller, source, rows[source], read, decode, parameters=parameters
        )
        messages = [
            await _message(services, caller, sink, setup.sinks[sink], facts)
            for one in answer["items"]
            if one["state"] == "ready"
            for sink in setup.sources[source].sinks
            for facts in _facts(one["job"], setup.sinks[sink], document.product)
        ]
        sources.append({**answer, "messages": messages})
    changes = await asyncio.to_thread(changes_between, before, text)
    return {"setup": name, "changes": changes, "sources": sources}


def _facts(
    job: Mapping[str, Any], sink: Sink, product: Mapping[str, Any] | None
) -> Sequence[dict[str, Any]]:
    """Return what each message of a job is made of, as `weft._record_messages` does."""
    now = datetime.now(UTC)
    facts: dict[str, Any] = {
        "id": format_job_ref(1, 1),
        "batch_id": 1,
        "job_id": 1,
        "name": job["name"],
        "attributes": job["attributes"],
        "attempt": 1,
        "exit_code": 0,
        "started_at": now,
        "ended_at": now,
        "file": sink.each,
        "product": None if product is None else msgspec.json.encode(product).decode(),
    }
    if not sink.events:
        return [facts]
    products = [] if product is None else [product]
    facts |= {"run_id": UUID(int=1), "event_at": now, "products": products, "inputs": []}
    return [{**facts, "event": event} for event in ("start", "complete")]


async def _message(
    services: Services, caller: Caller, name: str, sink: Sink, facts: Mapping[str, Any]
) -> Answer:
    """Return what a sink would be told."""
    to = {**sink.options} or {"url": sink.url}
    answer = {"sink": name, "to": to, "message": None}
    if services.make_message is None or (
        (sink.each or sink.products) and facts["product"] is None
    ):
        return {**answer, "error": _NO_PRODUCT if services.make_message else _NO_MAKER}
    schema = None if sink.schema is None else msgspec.json.encode(sink.schema).decode()
    try:
        to = target_of(to, facts)
        message = await services.make_message(caller.tenant_id, sink.message, facts, schema)
    except (CannotFill, ValueError) as error:
        return {**answer, "error": str(error)}
    return {"sink": name, "to": to, "message": message, "error": None}


def changes_between(before: str, after: str) -> list[Mapping[str, Any]]:
    """Return the parts that are new, changed or gone, with their fields before and after.

    >>> [one["part"] for one in changes_between("[job.a]", "[job.b]")]
    ['job a', 'job b']
    """
    old, new = _parts(before), _parts(after)
    return [
        {
            "kind": "create" if part not in old else "change" if part in new else "delete",
            "part": part,
            "fields": fields,
        }
        for part in dict.fromkeys(chain(old, new))
        if (fields := _differing(old.get(part, {}), new.get(part, {})))
        or (part in old) != (part in new)
    ]


def _parts(text: str) -> dict[str, Mapping[str, Any]]:
    return {
        f"{section} {name}": table if isinstance(table, Mapping) else {"value": table}
        for section, tables in read_toml(text).items()
        for name, table in tables.items()
    }


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {
        name: [old.get(name), new.get(name)]
        for name in dict.fromkeys(chain(old, new))
        if old.get(name) != new.get(name)
    }
