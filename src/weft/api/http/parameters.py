"""Parameters of requests: only known names in the query, ids in the path."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl

import msgspec

from weft.api.calls import path_ids as ids
from weft.api.calls.path_ids import PathId, path_id_of
from weft.api.http.moments import OUT_OF_YEARS, in_utc
from weft.core.errors import FieldError, InvalidParameter
from weft.wire.documents.failures import CAUSE_PATTERN

QUERY_FIELDS_MAX: Final = 64
_DIGITS: Final = re.compile(r"-?[0-9]{1,18}")


class Query:
    """The query of a request: only `known` parameters, each once unless `many` reads it.

    `may_have_others`: those that are not known are passed over.
    """

    def __init__(
        self, query_string: bytes, known: Iterable[str], *, may_have_others: bool = False
    ) -> None:
        text = query_string.decode("latin-1")
        try:
            pairs = parse_qsl(
                text, keep_blank_values=True, max_num_fields=QUERY_FIELDS_MAX, errors="strict"
            )
        except UnicodeDecodeError as error:
            readable = parse_qsl(text, keep_blank_values=True)
            wrong = next((name for name, value in readable if "\ufffd" in name + value), "")
            raise wrong_parameter(wrong, "its percent-encoded bytes are not UTF-8") from error
        except ValueError as error:
            raise wrong_parameter(
                "", f"there are more than {QUERY_FIELDS_MAX} parameters"
            ) from error
        self._values: dict[str, list[str]] = {}
        known = tuple(known)
        for name, value in pairs:
            if name not in known and may_have_others:
                continue
            if name not in known:
                listed = ", ".join(known) or "none"
                raise wrong_parameter(name, f"there is no such parameter; this path has: {listed}")
            if "\0" in value:
                raise wrong_parameter(name, "a value cannot contain NUL")
            self._values.setdefault(name, []).append(value)

    def many(self, name: str) -> list[str]:
        """Return all values."""
        return self._values.get(name, [])

    def text(self, name: str) -> str | None:
        """Return the value."""
        values = self.many(name)
        if len(values) > 1:
            raise wrong_parameter(name, "it is given more than once")
        return values[0] if values else None

    def integer(self, name: str, *, default: int | None, least: int, most: int) -> int | None:
        """Return the value as a number within limits."""
        text = self.text(name)
        if text is None:
            return default
        if not _DIGITS.fullmatch(text) or not least <= int(text) <= most:
            raise wrong_parameter(name, f"{text[:40]!r} is not a number from {least} to {most}")
        return int(text)

    def flag(self, name: str) -> bool:
        """Return whether it is `true`."""
        return self.given_flag(name) or False

    def given_flag(self, name: str) -> bool | None:
        """Return whether it is `true`; None: it is not given."""
        text = self.text(name)
        if text not in {None, "true", "false"}:
            raise wrong_parameter(name, f"{(text or '')[:40]!r} is neither true nor false")
        return None if text is None else text == "true"

    def moment(self, name: str) -> datetime | None:
        """Return the value as a time with its zone."""
        text = self.text(name)
        try:
            sent: datetime | None = msgspec.convert(
                text, Annotated[datetime, msgspec.Meta(tz=True)] | None
            )
        except msgspec.ValidationError as error:
            raise wrong_parameter(name, "it is not a time of RFC 3339 with its zone") from error
        if sent is None:
            return None
        in_bounds = in_utc(sent)
        if in_bounds is None:
            raise wrong_parameter(name, OUT_OF_YEARS)
        return in_bounds

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices, the first if it is not given."""
        text = self.text(name)
        if text is not None and text not in choices:
            raise wrong_parameter(name, f"{text[:40]!r} is not one of {', '.join(choices)}")
        return text or choices[0]


def checked_cause(cause: str | None) -> str | None:
    """Return the name of a cause as it was given. Raise `InvalidParameter` if it is none."""
    if cause is not None and not re.fullmatch(CAUSE_PATTERN, cause):
        raise wrong_parameter("cause", f"{cause[:40]!r} is not 12 digits of hex")
    return cause


def wrong_parameter(name: str, message: str) -> InvalidParameter:
    """Return the error for a parameter of the query or a header."""
    shown = name[:80]
    return InvalidParameter(
        f"the parameter {shown!r} is invalid",
        detail=f"{message[:1].upper()}{message[1:]}.",
        hint="`/openapi.json` lists the parameters of every path.",
        errors=[FieldError(f"?{shown}", message)],
    )


def _reader(kind: object) -> Callable[[Any], Any]:
    one = path_id_of(kind)
    assert one is not None, kind
    return lambda request: one.parse(request.path_params[one.name], request.services.settings)


PATH_IDS: Final[Mapping[str, PathId]] = {
    path_id.name: path_id for kind in reversed(vars(ids).values()) if (path_id := path_id_of(kind))
}
"""By name; of two kinds with one name the first, unless a call says which it has."""
batch_id_of: Final[Callable[[Any], ids.BatchId]] = _reader(ids.BatchId)
job_id_of: Final[Callable[[Any], ids.JobId]] = _reader(ids.JobId)
attempt_of: Final[Callable[[Any], int]] = _reader(ids.AttemptNumber)
group_of: Final[Callable[[Any], ids.GroupId]] = _reader(ids.GroupId)
condition_id_of: Final[Callable[[Any], int]] = _reader(ids.ConditionId)
operation_id_of: Final[Callable[[Any], int]] = _reader(ids.OperationId)
session_id_of: Final[Callable[[Any], int]] = _reader(ids.SessionId)
part_of: Final[Callable[[Any], int]] = _reader(ids.PartNumber)
digest_of: Final[Callable[[Any], str]] = _reader(ids.PayloadDigest)
project_of: Final[Callable[[Any], str]] = _reader(ids.ProjectName)
worker_of: Final[Callable[[Any], str]] = _reader(ids.WorkerName)
user_of: Final[Callable[[Any], str]] = _reader(ids.UserName)
queue_of: Final[Callable[[Any], str]] = _reader(ids.QueueName)
setup_of: Final[Callable[[Any], str]] = _reader(ids.SetupName)
source_of: Final[Callable[[Any], str]] = _reader(ids.SourceName)
pool_of: Final[Callable[[Any], str]] = _reader(ids.PoolName)
