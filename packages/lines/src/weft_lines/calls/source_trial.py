"""Try a source: read it once and say what would become of its items. Nothing is kept."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from weft.api.calls.call import DecodeBatch, call
from weft.api.calls.path_ids import SourceName
from weft.api.services import Services
from weft.core.access.rights import Right, UserRole
from weft.core.errors import Invalid, SourceNotFound, WeftError
from weft.ports.source import SourceRead
from weft.ports.store import Caller, Origin, Row
from weft.ports.store.sources import Decision, DueSource, TakenItem, TakenSource
from weft.submission import submit
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.telemetry.trace import new_trace_id
from weft.wire.answers.sources import SourceTried
from weft_lines.calls.item_decisions import decide, wrong_jobs
from weft_lines.calls.sources import refuse_others

ITEMS_SHOWN: Final = 100
_NO_READER: Final = "this api reads no sources"


@call(
    "POST /v1/sources/{source}/trial",
    Right.WRITE,
    SourceTried,
    client="test_source",
    public=False,
)
async def try_source(
    services: Services, caller: Caller, name: SourceName, decode: DecodeBatch
) -> Answer:
    """Read a source once from the api's host, as its owner or an operator: what it gives, and the
    jobs that would be made of it. Nothing is kept.
    """
    refuse_others(caller, await services.store.get_source(caller, name))
    known = await services.store.try_source(caller, name, ())
    read = await read_source(services, caller, name, known)
    found = await tried_source(services, caller, name, known, read, decode)
    log.info("source.tried", source=name, user=caller.user_name, items=len(read.found))
    return found


async def read_source(services: Services, caller: Caller, name: str, known: Row) -> SourceRead:
    """Read a source once from here. `known`: as `try_source` of the store returns it."""
    due = DueSource(
        known["source_id"],
        name,
        known["kind"],
        known["options"],
        known["every_s"],
        0,
        known["cursor"],
        0,
        known["sealed"],
        caller.tenant_id,
    )
    if services.source_trials is None:
        return SourceRead(error=_NO_READER)
    return await services.source_trials.read(due)


async def tried_source(
    services: Services,
    caller: Caller,
    name: str,
    known: Row,
    read: SourceRead,
    decode: DecodeBatch,
    parameters: Sequence[Row] | None = None,
) -> Answer:
    """Return what would become of what was read. `parameters`: as `decide` takes them; then it is
    only the first item.
    """
    shown = read.found[: ITEMS_SHOWN if parameters is None else 1]
    keys = [one["key"] for one in shown]
    try:
        states = (await services.store.try_source(caller, name, keys))["known"]
    except SourceNotFound:  # of a setup that is tried
        states = {}
    items = await _items(services, _taken(name, known, shown, caller), decode, parameters)
    return {
        "source": name,
        "error": read.error,
        "n_items": len(read.found),
        "more": read.more,
        "items": [
            {"key": one["key"], "known": states.get(one["key"]), **items.get(at, _unread(one))}
            for at, one in enumerate(shown)
        ],
    }


def _unread(found: Mapping[str, Any]) -> Answer:
    return {"state": "refused", "reason": found["error"] or "it could not be read", "job": None}


def _taken(
    name: str, known: Row, found: Sequence[Mapping[str, Any]], caller: Caller
) -> TakenSource:
    """Return the items that could be read, as if an api had taken them, under a number that no
    taking has; each has its place.
    """
    now = datetime.now(UTC).isoformat()
    owner = known["owner"]
    return TakenSource(
        source_id=known["source_id"],
        name=name,
        lifecycle=known["lifecycle"],
        billing_project=known["billing_project"],
        template=known["template"],
        taking=-1,
        items=[
            TakenItem(at, one["key"], one["fields"], None, now)
            for at, one in enumerate(found)
            if one["fields"] is not None
        ],
        owner=Caller(
            caller.tenant_id,
            known["user_id"],
            owner["name"],
            UserRole(owner["role"]),
            in_turn=False,
        ),
        sealed=known["look_ups_sealed"],
    )


async def _items(
    services: Services, taken: TakenSource, decode: DecodeBatch, parameters: Sequence[Row] | None
) -> Mapping[int, Answer]:
    """Return what would become of each item, by its place."""
    decisions = await decide(services, taken, taken.items, parameters)
    ready = [decision for decision in decisions if decision.state == "ready"]
    wrong = await _wrong(services, taken, ready, decode) if ready else {}
    return {
        decision.n: {
            "state": "refused" if decision.n in wrong else decision.state,
            "reason": wrong.get(decision.n, decision.reason),
            "job": decision.document,
        }
        for decision in decisions
    }


async def _wrong(
    services: Services, taken: TakenSource, ready: Sequence[Decision], decode: DecodeBatch
) -> Mapping[int, str]:
    """Return why jobs could not be submitted, by the place of their items."""
    whole = {
        "billing_project": taken.billing_project,
        "lifecycle": taken.lifecycle,
        "sink": taken.template.get("sink"),
        "jobs": [one.document for one in ready],
    }
    body = msgspec.json.encode(whole)
    origin = Origin(digest=hashlib.sha256(body).digest(), trace_id=new_trace_id())
    try:
        await submit.check_batch(services, taken.owner, decode(body), origin)
    except Invalid as error:
        named = {ready[at].n: why for at, why in wrong_jobs(error).items()}
        return named or {one.n: error.message for one in ready}
    except WeftError as error:
        return {one.n: error.message for one in ready}
    return {}
