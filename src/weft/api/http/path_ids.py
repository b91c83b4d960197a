"""Ids in paths."""

import re
from typing import cast
from urllib.parse import unquote
from uuid import UUID

from weft.api.http.requests import AnyRequest, services_of
from weft.core.apps.names import APP
from weft.core.errors import BadId
from weft.core.files.file_paths import STORE
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
NUMBER = re.compile(r"[1-9][0-9]{0,17}")
ATTEMPT = re.compile(r"[1-9][0-9]{0,4}")
ATTEMPTS_MAX = 2**15 - 1
PART = re.compile(r"[1-9][0-9]{0,5}")
QUEUE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")
_GROUP = re.compile(r"g?(0|[1-9][0-9]{0,8})")


def batch_id_of(request: AnyRequest) -> BatchId:
    """Return the number of a batch. Raise `BadId` for anything else."""
    return parse_batch_id(_segment(request, "b"))


def job_id_of(request: AnyRequest) -> JobId:
    """Return the number of a job within its batch. Raise `BadId` for anything else."""
    return parse_job_id(_segment(request, "j"))


def attempt_of(request: AnyRequest) -> int:
    """Return the number of an attempt within its job. Raise `BadId` for anything else."""
    text = _segment(request, "a")
    if not ATTEMPT.fullmatch(text) or int(text) > ATTEMPTS_MAX:
        raise BadId(text, expected="an attempt is written as a positive number")
    return int(text)


def update_id_of(request: AnyRequest) -> UpdateId:
    """Return the number of an update within its batch. Raise `BadId` for anything else."""
    text = _segment(request, "u")
    match = UPDATE.fullmatch(text)
    if match is None:
        raise BadId(text, expected="an update is written as a positive number, or as u3")
    return UpdateId(int(match[1]))


def operation_id_of(request: AnyRequest) -> int:
    """Return the number of an operation. Raise `BadId` for anything else."""
    return _number(request, "o", "an operation is written as a positive number")


def token_id_of(request: AnyRequest) -> int:
    """Return the number of a token. Raise `BadId` for anything else."""
    expected = "a token is named by its number, not by its text"
    return _number(request, "t", expected, hint="List yours with `weft token ls`.")


def product_id_of(request: AnyRequest) -> int:
    """Return the number of a product. Raise `BadId` for anything else."""
    expected = "a product is named by its number"
    return _number(request, "product", expected, hint="List them with `weft products`.")


def session_id_of(request: AnyRequest) -> int:
    """Return the number of a session. Raise `BadId` for anything else."""
    expected = "a session is named by its number"
    return _number(request, "session", expected, hint="List yours with `weft session ls`.")


def schedule_id_of(request: AnyRequest) -> int:
    """Return the number of a schedule. Raise `BadId` for anything else."""
    return parse_schedule_id(_segment(request, "s"))


def condition_id_of(request: AnyRequest) -> int:
    """Return the number of a condition. Raise `BadId` for anything else."""
    return parse_condition_id(_segment(request, "c"))


def digest_of(request: AnyRequest) -> str:
    """Return the digest of a payload. Raise `BadId` for anything else."""
    text = _segment(request, "s")
    if not DIGEST.fullmatch(text):
        raise BadId(text, expected="a payload is named by its SHA-256: 64 digits of hex")
    return text


def part_of(request: AnyRequest) -> int:
    """Return the number of a part. Raise `BadId` for anything else."""
    text = _segment(request, "n")
    if not PART.fullmatch(text):
        raise BadId(text, expected="a part is written as a positive number")
    return int(text)


def delivery_of(request: AnyRequest) -> int | UUID:
    """Return the number or the name of a callback delivery. Raise `BadId` for anything else."""
    text = _segment(request, "d")
    if NUMBER.fullmatch(text):
        return int(text)
    try:
        return UUID(text)
    except ValueError:
        expected = "a delivery is a number, or a name as in the Weft-Delivery header"
        raise BadId(text, expected=expected) from None


def group_of(request: AnyRequest) -> int | str:
    """Return the number or the path of a group, or the name of a set. Raise `BadId` for anything
    else.
    """
    return parse_group(_segment(request, "g"), services_of(request).settings)


def parse_group(text: str, settings: Settings) -> int | str:
    """Read `3`, `g3`, a path or the name of a set. Raise `BadId` for anything else."""
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


def project_of(request: AnyRequest) -> str:
    """Return the name of a billing project. Raise `BadId` if it holds a NUL character."""
    return _name(request, "p", "billing project")


def worker_of(request: AnyRequest) -> str:
    """Return the name of a worker. Raise `BadId` if it holds a NUL character."""
    return _name(request, "w", "worker")


def user_of(request: AnyRequest) -> str:
    """Return the name of a user. Raise `BadId` if it holds a NUL character."""
    return _name(request, "user", "user")


def tenant_of(request: AnyRequest) -> str:
    """Return the name of a tenant. Raise `BadId` if it holds a NUL character."""
    return _name(request, "tenant", "tenant")


def queue_of(request: AnyRequest) -> str:
    """Return the name of a queue. Raise `BadId` for what none can have."""
    name = _segment(request, "q")
    if not QUEUE.fullmatch(name):
        raise BadId(name, expected="a queue has a name such as short")
    return name


def setup_of(request: AnyRequest) -> str:
    """Return the name of a setup. Raise `BadId` for what none can have."""
    name = _segment(request, "setup")
    if not QUEUE.fullmatch(name):
        raise BadId(name, expected="a setup has a name such as snow")
    return name


def lifecycle_of(request: AnyRequest) -> str:
    """Return the name of a lifecycle. Raise `BadId` for what none can have."""
    name = _segment(request, "lifecycle")
    if not QUEUE.fullmatch(name):
        raise BadId(name, expected="a lifecycle has a name such as hrsi")
    return name


def sink_of(request: AnyRequest) -> str:
    """Return the name of a sink. Raise `BadId` for what none can have."""
    name = _segment(request, "sink")
    if QUEUE.fullmatch(name) is None:
        raise BadId(name, expected="a sink has a name such as wekeo")
    return name


def message_of(request: AnyRequest) -> int:
    """Return the number of a message of a sink. Raise `BadId`."""
    return _message_number(request, "message", "a message", "weft line deliveries")


def dead_message_of(request: AnyRequest) -> int:
    """Return the number of a dead message. Raise `BadId`."""
    return _message_number(request, "dead", "a dead message", "weft transport letters ls")


def _message_number(request: AnyRequest, segment: str, what: str, command: str) -> int:
    text = _segment(request, segment)
    if not text.isascii() or not text.isdecimal() or len(text) > 18:  # noqa: PLR2004 (a bigint)
        raise BadId(text, expected=f"{what} has a number, as `{command}` shows it")
    return int(text)


def parameter_of(request: AnyRequest) -> str:
    """Return the name of a parameter. Raise `BadId` for what none can have."""
    name = _segment(request, "parameter")
    if not PARAMETER.fullmatch(name):
        raise BadId(name, expected="a parameter has a name such as search_first")
    return name


def source_of(request: AnyRequest) -> str:
    """Return the name of a source. Raise `BadId` for what none can have."""
    name = _segment(request, "source")
    if not QUEUE.fullmatch(name):
        raise BadId(name, expected="a source has a name such as scenes")
    return name


def licence_of(request: AnyRequest) -> str:
    """Return the name of a licence, which may be one that none can have."""
    return _segment(request, "l")


def pool_of(request: AnyRequest) -> str:
    """Return the name of a pool. Raise `BadId` for what none can have."""
    name = _segment(request, "p")
    if not QUEUE.fullmatch(name):
        raise BadId(name, expected="a pool has a name such as default")
    return name


def app_of(request: AnyRequest) -> str:
    """Return the name of an application. Raise `BadId` for what none can have."""
    name = _segment(request, "app")
    if not APP.fullmatch(name):
        raise BadId(
            name,
            expected="an application has a name with a version, such as wordcount-1.0",
            hint="List them with `weft app ls`.",
        )
    return name


def secret_of(request: AnyRequest) -> str:
    """Return the name of a secret. Raise `BadId` for what none can have."""
    name = _segment(request, "secret")
    if not QUEUE.fullmatch(name):
        raise BadId(
            name,
            expected="a secret has a name such as db-password",
            hint="List yours with `weft secret ls`.",
        )
    return name


def store_of(request: AnyRequest) -> str:
    """Return the name of a store of files. Raise `BadId` for what none can have."""
    name = _segment(request, "store")
    if not STORE.fullmatch(name):
        raise BadId(
            name,
            expected="a store has a name such as results",
            hint="List them with `weft store ls`.",
        )
    return name


def saved_query_of(request: AnyRequest) -> str:
    """Return the name of a saved query. Raise `BadId` for what none can have."""
    return parse_saved_query(_segment(request, "saved"))


def parse_saved_query(name: str) -> str:
    """Return it. Raise `BadId` for what cannot name a saved query."""
    if not QUEUE.fullmatch(name):
        raise BadId(
            name,
            expected="a saved query has a name such as broken",
            hint="List yours with `weft query ls`.",
        )
    return name


def _number(request: AnyRequest, parameter: str, expected: str, **more: str) -> int:
    """Return the number in the path. Raise `BadId`, which says what is `expected`."""
    text = _segment(request, parameter)
    if not NUMBER.fullmatch(text):
        raise BadId(text, expected=expected, **more)
    return int(text)


def _name(request: AnyRequest, parameter: str, kind: str) -> str:
    text = _segment(request, parameter)
    name = unquote(text) if "%2f" in text.lower() else text
    if "\0" in name:
        raise BadId(name, expected=f"the name of a {kind} has no NUL character")
    return name


def _segment(request: AnyRequest, name: str) -> str:
    return cast("str", request.path_params[name])
