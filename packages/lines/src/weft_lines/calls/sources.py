"""Sources: list, show, pause, resume, replay; run their series again."""

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import UNSET

from weft.api.calls.call import KEYED, Cursor, Word, call
from weft.api.calls.path_ids import SourceName
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.errors import BadId, FieldError, InvalidDocument, SourceOfAnother
from weft.core.lines.series import order_of
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.answers.sources import (
    ItemChange,
    ItemStateWord,
    SeriesRerunning,
    ShownSource,
    Source,
    SourceItem,
)
from weft.wire.documents.sources import SeriesRerun, SourceEdit

_SOURCE: Final = "/v1/sources/{source}"


def _parse_key(text: str) -> str:
    if not text:
        raise BadId(text, expected="it is the key of an item")
    return text


@call("GET /v1/sources", Right.READ, page=Source, cursor=Cursor("src", "source"), public=False)
async def list_sources(
    services: Services, caller: Caller, *, after: str, limit: int
) -> Sequence[Row]:
    """List the sources, in the order of their names."""
    return await services.store.list_sources(caller, after=after, limit=limit)


@call(f"GET {_SOURCE}/items", Right.READ, page=SourceItem, cursor=Cursor("item", "n"))
async def list_source_items(
    services: Services,
    caller: Caller,
    source: SourceName,
    *,
    before: int | None,
    limit: int,
    state: ItemStateWord | None,
    series: str | None,
    key: str | None,
) -> Sequence[Row]:
    """List what a source has found, the newest first; or only items in one state, of
    one series, or the one of a key.
    """
    return await services.store.list_source_items(
        caller, source, before=before, state=state, series=series, key=key, limit=limit
    )


@call(f"GET {_SOURCE}/history", Right.READ, page=ItemChange)
async def item_history(
    services: Services,
    caller: Caller,
    source: SourceName,
    *,
    key: Annotated[str, Word("key", _parse_key)],
) -> Sequence[Row]:
    """Return the dated changes of an item, the oldest first, with the statuses of its jobs."""
    return await services.store.item_history(caller, source, key=key)


@call(f"GET {_SOURCE}", Right.READ, ShownSource, public=False)
async def get_source(services: Services, caller: Caller, name: SourceName) -> Answer:
    """Get a source."""
    found = {**await services.store.get_source(caller, name)}
    found.pop("user_id")
    return found


@call(f"PATCH {_SOURCE}", Right.WRITE, ShownSource, public=False, marks=KEYED)
async def change_source(
    services: Services, caller: Caller, name: SourceName, edit: SourceEdit
) -> Answer:
    """Pause, resume or replay a source, as its owner or an operator."""
    refuse_others(caller, await services.store.get_source(caller, name))
    if edit.replay_item is not UNSET:
        again = await services.store.rerun_items(caller, name, key=edit.replay_item)
        log.info("source.changed", source=name, user=caller.user_name, change="item replayed")
        if not again:
            problem = FieldError("/replay_item", "no item of this key has had its turn")
            raise InvalidDocument.of([problem])
        return await get_source(services, caller, name)
    await services.store.change_source(
        caller,
        name,
        paused=None if edit.paused is UNSET else bool(edit.paused),
        replay_since=None if edit.replay_since is UNSET else edit.replay_since,
    )
    change = [
        *([] if edit.paused is UNSET else ["paused" if edit.paused else "resumed"]),
        *([] if edit.replay_since is UNSET else ["replayed"]),
    ]
    log.info("source.changed", source=name, user=caller.user_name, change=", ".join(change))
    return await get_source(services, caller, name)


@call(f"POST {_SOURCE}/rerun", Right.WRITE, SeriesRerunning, placed=2, marks=KEYED)
async def rerun_series(
    services: Services, caller: Caller, source: SourceName, asked: SeriesRerun
) -> Answer:
    """Let items of a series run again from a date on, one after another, as its owner or an
    operator. What they left before stays; each gets another job. Raise `SourceNotFound`,
    `SourceOfAnother`.
    """
    refuse_others(caller, await services.store.get_source(caller, source))
    since = order_of(asked.since)
    if since is None:
        raise InvalidDocument.of([FieldError("/from", "it is neither a date nor a number")])
    found = await services.store.rerun_items(caller, source, series=asked.series, since=since)
    log.info(
        "series.rerun", source=source, series=asked.series, items=found, user=caller.user_name
    )
    return {"source": source, "series": asked.series, "n_items": found}


def refuse_others(caller: Caller, found: Row) -> None:
    """Raise `SourceOfAnother`, unless the caller is its owner or an operator."""
    if found["user_id"] != caller.user_id and not caller.may(Right.OPERATE):
        raise SourceOfAnother(
            f"only its owner or an operator can change source {found['source']}",
            detail=f"It belongs to {found['user']}.",
            hint="Ask them.",
        )
