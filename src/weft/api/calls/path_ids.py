"""Ids in the paths of calls: how each is called there, what is said of it, and how it is read.

The parameter of a use case that has such a type is that part of the path.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, get_args
from urllib.parse import unquote
from uuid import UUID

from weft.core import ids
from weft.core.apps.description import APP
from weft.core.errors import BadId
from weft.core.files.file_paths import STORE
from weft.core.graph.group_tree import wrong_path
from weft.core.lines.line import PARAMETER
from weft.settings import Settings
from weft.wire.documents.failures import CAUSE_PATTERN
from weft.wire.payload import DIGEST

NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}")
QUEUE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")
ATTEMPTS_MAX: Final = 2**15 - 1
_ATTEMPT: Final = re.compile(r"[1-9][0-9]{0,4}")
_BIGINT: Final = re.compile(r"[0-9]{1,18}")
_PART: Final = re.compile(r"[1-9][0-9]{0,5}")
_UPDATE: Final = re.compile(r"u?([1-9][0-9]{0,8})")
_GROUP: Final = re.compile(r"g?(0|[1-9][0-9]{0,8})")
_UUID: Final = "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


@dataclass(frozen=True)
class PathId:
    """One kind of id."""

    name: str
    """Of the part of the path."""
    sentence: str
    """For the description."""
    pattern: str
    """Of what there may be; empty: any text."""
    parse: Callable[[str, Settings], Any]
    """Returns what the text stands for. Raises `BadId`."""


def path_id_of(kind: object) -> PathId | None:
    """Return the kind of id that the type of a parameter is; None: it is none."""
    return next((arg for arg in get_args(kind) if isinstance(arg, PathId)), None)


def _id(name: str, sentence: str, pattern: str, parse: Callable[[str], Any]) -> PathId:
    return PathId(name, sentence, pattern, lambda text, _: parse(text))


def _matching(
    name: str,
    sentence: str,
    pattern: re.Pattern[str],
    expected: str,
    *,
    kind: Callable[[str], Any] = str,
    **more: str,
) -> PathId:
    def parse(text: str) -> Any:  # noqa: ANN401 (as `kind` has it)
        if not pattern.fullmatch(text):
            raise BadId(text, expected=expected, **more)
        return kind(text)

    return _id(name, sentence, pattern.pattern, parse)


def _named(name: str, kind: str) -> PathId:
    """Return the id of what may have any name."""

    def parse(text: str) -> str:
        found = unquote(text) if "%2f" in text.lower() else text
        if "\0" in found:
            raise BadId(found, expected=f"the name of a {kind} has no NUL character")
        return found

    return _id(name, f"The name of a {kind}, with each slash as %2F.", r"[^\x00]+", parse)


def _called(name: str, kind: str, example: str, **more: Any) -> PathId:  # noqa: ANN401 (a hint)
    """Return the id of what has a name as queues have."""
    expected = f"a {kind} has a name such as {example}"
    return _matching(name, f"The name of a {kind}.", QUEUE, expected, **more)


def parse_group(text: str, settings: Settings) -> int | str:
    """Read `3`, `g3`, a path or the name of a set."""
    match = _GROUP.fullmatch(text)
    if match is not None:
        return int(match[1])
    name = unquote(text) if text[:3].lower() == "%2f" else text
    path = name if name.startswith("/") else f"/{name}"
    if not name or wrong_path(
        path, depth_max=settings.group_depth_max, name_chars_max=settings.name_chars_max
    ):
        expected = (
            "a group is written 3, g3, as a path (/stage1; in a URL %2Fstage1) or a set's name"
        )
        raise BadId(name, expected=expected)
    return name


def parse_cause(text: str) -> str:
    """Return the name of a cause of failures as it was given."""
    if not re.fullmatch(CAUSE_PATTERN, text):
        raise BadId(text, expected=f"{text[:40]!r} is not 12 digits of hex")
    return text


def _parse_attempt(text: str) -> int:
    if not _ATTEMPT.fullmatch(text) or int(text) > ATTEMPTS_MAX:
        raise BadId(text, expected="an attempt is written as a positive number")
    return int(text)


def _parse_update(text: str) -> ids.UpdateId:
    match = _UPDATE.fullmatch(text)
    if match is None:
        raise BadId(text, expected="an update is written as a positive number, or as u3")
    return ids.UpdateId(int(match[1]))


def _parse_delivery(text: str) -> int | UUID:
    if NUMBER.fullmatch(text):
        return int(text)
    try:
        return UUID(text)
    except ValueError:
        expected = "a delivery is a number, or a name as in the Weft-Delivery header"
        raise BadId(text, expected=expected) from None


_number = partial(_matching, kind=int)

SAVED_QUERY: Final = _called(
    "saved", "saved query", "broken", hint="List yours with `weft query ls`."
)
BatchId = Annotated[int, _id("b", "A batch: 12 or b12.", ids.BATCH.pattern, ids.parse_batch_id)]
JobId = Annotated[
    int, _id("j", "A job of the batch: 7 or j7.", "j?[1-9][0-9]{0,8}", ids.parse_job_id)
]
AttemptNumber = Annotated[
    int, _id("a", "An attempt of the job, from 1 on.", _ATTEMPT.pattern, _parse_attempt)
]
GroupId = Annotated[
    int | str,
    PathId(
        "g",
        "A group: its number 3 or g3, its path with each slash as %2F, or the name of a set.",
        "",
        parse_group,
    ),
]
UpdateId = Annotated[
    int, _id("u", "An update of the batch: 3 or u3.", _UPDATE.pattern, _parse_update)
]
OperationId = Annotated[
    int,
    _number(
        "o", "The number of an operation.", NUMBER, "an operation is written as a positive number"
    ),
]
DeliveryId = Annotated[
    int | UUID,
    _id(
        "d",
        "A delivery: its number, or its name in the Weft-Delivery header.",
        f"{NUMBER.pattern}|{_UUID}",
        _parse_delivery,
    ),
]
PayloadDigest = Annotated[
    str,
    _matching(
        "s",
        "A payload: its SHA-256 in hex.",
        DIGEST,
        "a payload is named by its SHA-256: 64 digits of hex",
    ),
]
PartNumber = Annotated[
    int,
    _number(
        "n",
        "A part of it, from 1 on: 4 MiB each, the last one shorter.",
        _PART,
        "a part is written as a positive number",
    ),
]
ScheduleId = Annotated[
    int, _id("s", "A schedule: 3 or s3.", ids.SCHEDULE.pattern, ids.parse_schedule_id)
]
ConditionId = Annotated[
    int, _id("c", "A condition: 3 or c3.", ids.CONDITION.pattern, ids.parse_condition_id)
]
SessionId = Annotated[
    int,
    _number(
        "session",
        "The number of a session.",
        NUMBER,
        "a session is named by its number",
        hint="List yours with `weft session ls`.",
    ),
]
TokenId = Annotated[
    int,
    _number(
        "t",
        "The number of a token.",
        NUMBER,
        "a token is named by its number, not by its text",
        hint="List yours with `weft token ls`.",
    ),
]
ProductId = Annotated[
    int,
    _number(
        "product",
        "The number of a product.",
        NUMBER,
        "a product is named by its number",
        hint="List them with `weft products`.",
    ),
]
MessageId = Annotated[
    int,
    _number(
        "message",
        "The number of a message of a sink.",
        _BIGINT,
        "a message has a number, as `weft line deliveries` shows it",
    ),
]
DeadMessageId = Annotated[
    int,
    _number(
        "dead",
        "The number of a dead message.",
        _BIGINT,
        "a dead message has a number, as `weft transport letters ls` shows it",
    ),
]
ProjectName = Annotated[str, _named("p", "billing project")]
TenantName = Annotated[str, _named("tenant", "tenant")]
UserName = Annotated[str, _named("user", "user")]
WorkerName = Annotated[str, _named("w", "worker")]
LicenceName = Annotated[str, _id("l", "The name of a licence.", r"[^\x00]+", str)]
"""It may be one that none can have."""
SavedQueryName = Annotated[str, SAVED_QUERY]
StoreName = Annotated[
    str,
    _matching(
        "store",
        "The name of a store of files.",
        STORE,
        "a store has a name such as results",
        hint="List them with `weft store ls`.",
    ),
]
SecretName = Annotated[
    str, _called("secret", "secret", "db-password", hint="List yours with `weft secret ls`.")
]
POOL: Final = _called("p", "pool", "default")
PoolName = Annotated[str, POOL]
QueueName = Annotated[str, _called("q", "queue", "short")]
SetupName = Annotated[str, _called("setup", "line", "snow")]
LifecycleName = Annotated[str, _called("lifecycle", "lifecycle", "hrsi")]
SinkName = Annotated[str, _called("sink", "sink", "wekeo")]
SourceName = Annotated[str, _called("source", "source", "scenes")]
ParameterName = Annotated[
    str,
    _matching(
        "parameter",
        "The name of a parameter of production lines.",
        PARAMETER,
        "a parameter has a name such as search_first",
    ),
]
AppName = Annotated[
    str,
    _matching(
        "app",
        "The name and version of an application.",
        APP,
        "an application has a name with a version, such as wordcount-1.0",
        hint="List them with `weft app ls`.",
    ),
]
