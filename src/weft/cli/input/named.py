"""Names where ids are taken: `nightly`, `nightly.j7`, `nightly.align`, `nightly/stage1`."""

import re
from collections.abc import Iterator
from contextlib import suppress
from inspect import BoundArguments
from typing import Final

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import parse_target
from weft.client.api import Api
from weft.client.objects.names import NoBatchOfName, job_called, newest_batch
from weft.core.errors import BadId
from weft.core.ids import format_batch_id, format_job_ref

TARGETS: Final = frozenset({"target", "targets", "batch", "job"})
"""What arguments and options of commands are called whose values are batches or parts of them."""
_MORE: Final = "others"
"""More of what stands before it."""
_JOB: Final = re.compile(r"(.+)(\.j[1-9][0-9]{0,8})", re.DOTALL)


def name_ids(bound: BoundArguments) -> None:
    """Replace each name in what a command is called with by the id of the newest batch of that
    name; so the command, and what it prints, speak of one batch. What is an id stays one.
    """
    values = bound.arguments
    shared = values.get("shared", SHARED)
    names = TARGETS & values.keys()
    if not names or not isinstance(shared, Shared):
        return
    for name in (*names, *({_MORE} & values.keys())):
        given = values[name]
        if isinstance(given, str):
            values[name] = _id_of(given, shared)
        elif isinstance(given, tuple):
            values[name] = tuple(_id_of(text, shared) for text in given)


def _id_of(text: str, shared: Shared) -> str:
    try:
        parse_target(text)
    except BadId:
        return shared.ask(lambda client: _find(client, text)) if text.strip() else text
    return text


async def _find(client: Api, text: str) -> str:
    for name, rest in _readings(text):
        if batch := await newest_batch(client, name):
            return f"{format_batch_id(batch['id'])}{rest}"
    with suppress(BadId, NoBatchOfName):
        return format_job_ref(*await job_called(client, text))
    kinds = "a batch is written b12 or by its name, a job b12.j7 or b12.NAME, a group b12/stage1"
    raise BadId(text, expected=f"no batch has this name; {kinds}")


def _readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield what may be the name in a text, and what stands behind it; a name may have slashes."""
    yield text, ""
    if job := _JOB.fullmatch(text):
        yield job[1], job[2]
    name, slash, path = text.partition("/")
    if slash and name:
        yield name, f"/{path}"
