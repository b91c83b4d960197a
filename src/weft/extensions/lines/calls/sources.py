"""Sources: list, show, pause, resume, replay; run their series again."""

from msgspec import UNSET

from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.errors import FieldError, InvalidDocument, SourceOfAnother
from weft.core.lines.series import order_of
from weft.ports.store import Caller, Row
from weft.submission.services import Answer, Origin
from weft.telemetry.log import get_logger
from weft.wire.documents.sources import SeriesRerun, SourceEdit

log = get_logger()


async def get_source(services: Services, caller: Caller, name: str) -> Answer:
    """Return a source."""
    found = {**await services.store.get_source(caller, name)}
    found.pop("user_id")
    return found


async def change_source(
    services: Services, caller: Caller, name: str, edit: SourceEdit, origin: Origin
) -> Answer:
    """Pause, resume or replay a source, as its owner or an operator; return it."""
    refuse_others(caller, await services.store.get_source(caller, name))
    if edit.replay_item is not UNSET:
        again = await services.store.replay_item(
            caller, name, key=edit.replay_item, idempotency_key=origin.key, digest=origin.digest
        )
        log.info("source.changed", source=name, user=caller.user_name, change="item replayed")
        if not again:
            raise InvalidDocument.of(
                [FieldError("/replay_item", "no item of this key has had its turn")]
            )
        return await get_source(services, caller, name)
    await services.store.change_source(
        caller,
        name,
        paused=None if edit.paused is UNSET else bool(edit.paused),
        replay_since=None if edit.replay_since is UNSET else edit.replay_since,
        idempotency_key=origin.key,
        digest=origin.digest,
    )
    change = [
        *([] if edit.paused is UNSET else ["paused" if edit.paused else "resumed"]),
        *([] if edit.replay_since is UNSET else ["replayed"]),
    ]
    log.info("source.changed", source=name, user=caller.user_name, change=", ".join(change))
    return await get_source(services, caller, name)


async def rerun_series(
    services: Services, caller: Caller, name: str, asked: SeriesRerun, origin: Origin
) -> Answer:
    """Let items of a series run again, as the owner of the source or an operator."""
    refuse_others(caller, await services.store.get_source(caller, name))
    since = order_of(asked.since)
    if since is None:
        raise InvalidDocument.of([FieldError("/from", "it is neither a date nor a number")])
    found = await services.store.rerun_series(
        caller, name, series=asked.series, since=since, idempotency_key=origin.key,
        digest=origin.digest,
    )  # fmt: skip
    log.info("series.rerun", source=name, series=asked.series, items=found, user=caller.user_name)
    return {"source": name, "series": asked.series, "n_items": found}


def refuse_others(caller: Caller, found: Row) -> None:
    """Raise `SourceOfAnother`, unless the caller is its owner or an operator."""
    if found["user_id"] != caller.user_id and not caller.may(Right.OPERATE):
        raise SourceOfAnother(
            f"only its owner or an operator can change source {found['source']}",
            detail=f"It belongs to {found['user']}.",
            hint="Ask them.",
        )
