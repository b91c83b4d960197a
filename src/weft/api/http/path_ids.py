"""Ids in paths: each function returns the one that a request names.

All raise `BadId`, which says what would have been right.
"""

import re
from collections.abc import Callable
from typing import cast
from urllib.parse import unquote
from uuid import UUID

from weft.api.calls.path_ids import NUMBER, QUEUE
from weft.api.http.requests import AnyRequest, services_of
from weft.core.apps.names import APP
from weft.core.errors import BadId
from weft.core.graph.group_tree import wrong_path
from weft.core.ids import (
    BatchId,
    JobId,
    UpdateId,
    parse_batch_id,
    parse_condition_id,
    parse_job_id,
    parse_schedule_id,
)
from weft.core.lines.parameters import PARAMETER
from weft.settings import Settings
from weft.wire.payload import DIGEST

UPDATE = re.compile(r"u?([1-9][0-9]{0,8})")
ATTEMPT = re.compile(r"[1-9][0-9]{0,4}")
ATTEMPTS_MAX = 2**15 - 1
BIGINT = re.compile(r"[0-9]{1,18}")
PART = re.compile(r"[1-9][0-9]{0,5}")
_GROUP = re.compile(r"g?(0|[1-9][0-9]{0,8})")


def _segment(request: AnyRequest, name: str) -> str:
    return cast("str", request.path_params[name])


def _text(
    segment: str, pattern: re.Pattern[str], expected: str, **more: str
) -> Callable[[AnyRequest], str]:
    def read(request: AnyRequest) -> str:
        text = _segment(request, segment)
        if not pattern.fullmatch(text):
            raise BadId(text, expected=expected, **more)
        return text

    return read


def _number(
    segment: str, pattern: re.Pattern[str], expected: str, **more: str
) -> Callable[[AnyRequest], int]:
    text_of = _text(segment, pattern, expected, **more)
    return lambda request: int(text_of(request))


def _name(segment: str, kind: str) -> Callable[[AnyRequest], str]:
    def read(request: AnyRequest) -> str:
        text = _segment(request, segment)
        name = unquote(text) if "%2f" in text.lower() else text
        if "\0" in name:
            raise BadId(name, expected=f"the name of a {kind} has no NUL character")
        return name

    return read


def batch_id_of(request: AnyRequest) -> BatchId:
    """Return the number of a batch."""
    return parse_batch_id(_segment(request, "b"))


def job_id_of(request: AnyRequest) -> JobId:
    """Return the number of a job within its batch."""
    return parse_job_id(_segment(request, "j"))


def schedule_id_of(request: AnyRequest) -> int:
    """Return the number of a schedule."""
    return parse_schedule_id(_segment(request, "s"))


def condition_id_of(request: AnyRequest) -> int:
    """Return the number of a condition."""
    return parse_condition_id(_segment(request, "c"))


def attempt_of(request: AnyRequest) -> int:
    """Return the number of an attempt within its job."""
    text = _segment(request, "a")
    if not ATTEMPT.fullmatch(text) or int(text) > ATTEMPTS_MAX:
        raise BadId(text, expected="an attempt is written as a positive number")
    return int(text)


def update_id_of(request: AnyRequest) -> UpdateId:
    """Return the number of an update within its batch."""
    text = _segment(request, "u")
    match = UPDATE.fullmatch(text)
    if match is None:
        raise BadId(text, expected="an update is written as a positive number, or as u3")
    return UpdateId(int(match[1]))


def delivery_of(request: AnyRequest) -> int | UUID:
    """Return the number or the name of a callback delivery."""
    text = _segment(request, "d")
    if NUMBER.fullmatch(text):
        return int(text)
    try:
        return UUID(text)
    except ValueError:
        expected = "a delivery is a number, or a name as in the Weft-Delivery header"
        raise BadId(text, expected=expected) from None


def group_of(request: AnyRequest) -> int | str:
    """Return the number or the path of a group, or the name of a set."""
    return parse_group(_segment(request, "g"), services_of(request).settings)


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


operation_id_of = _number("o", NUMBER, "an operation is written as a positive number")
session_id_of = _number(
    "session", NUMBER, "a session is named by its number",
    hint="List yours with `weft session ls`.",
)  # fmt: skip
part_of = _number("n", PART, "a part is written as a positive number")
message_of = _number(
    "message", BIGINT, "a message has a number, as `weft line deliveries` shows it"
)
dead_message_of = _number(
    "dead", BIGINT, "a dead message has a number, as `weft transport letters ls` shows it"
)
digest_of = _text("s", DIGEST, "a payload is named by its SHA-256: 64 digits of hex")
project_of = _name("p", "billing project")
worker_of = _name("w", "worker")
user_of = _name("user", "user")
tenant_of = _name("tenant", "tenant")
queue_of = _text("q", QUEUE, "a queue has a name such as short")
setup_of = _text("setup", QUEUE, "a setup has a name such as snow")
lifecycle_of = _text("lifecycle", QUEUE, "a lifecycle has a name such as hrsi")
sink_of = _text("sink", QUEUE, "a sink has a name such as wekeo")
source_of = _text("source", QUEUE, "a source has a name such as scenes")
parameter_of = _text("parameter", PARAMETER, "a parameter has a name such as search_first")
pool_of = _text("p", QUEUE, "a pool has a name such as default")
app_of = _text(
    "app", APP, "an application has a name with a version, such as wordcount-1.0",
    hint="List them with `weft app ls`.",
)  # fmt: skip
