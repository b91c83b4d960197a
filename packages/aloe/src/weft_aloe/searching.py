"""Searches: terms of the query or the path, and orders of lists."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import ge, gt, le, lt
from typing import Any, Final

import msgspec

from weft_aloe.replies import bad_request, parameter
from weft_aloe.words import OLD_STATUSES, STATUSES, seconds_of

_FIELDS: Final = {
    "id": "text",
    "name": "text",
    "owner": "text",
    "status": "status",
    "appid": "text",
    "systemid": "text",
    "executionsystem": "text",
    "created": "time",
    "lastupdated": "time",
    "submittime": "time",
    "starttime": "time",
    "endtime": "time",
    "started": "time",
    "ended": "time",
    "nodecount": "number",
    "processorspernode": "number",
    "processorsoneachnode": "number",
    "memorypernode": "memory",
    "maxruntime": "duration",
    "archive": "switch",
    "archivepath": "text",
    "archivesystem": "text",
    "batchqueue": "text",
    "inputs": "json",
    "parameters": "json",
    "outputpath": "text",
    "localid": "text",
    "retries": "number",
    "errormessage": "text",
    "visible": "switch",
    "runtime": "number",
    "walltime": "number",
    "remotesubmitted": "time",
    "remotestarted": "time",
    "remoteended": "time",
    "remotequeue": "text",
    "tenantid": "text",
    "workpath": "text",
    "blockedcount": "number",
}
_NAMES: Final = {
    "appid": "appId",
    "systemid": "systemId",
    "executionsystem": "systemId",
    "lastupdated": "lastUpdated",
    "submittime": "submitTime",
    "starttime": "startTime",
    "endtime": "endTime",
    "nodecount": "nodeCount",
    "processorspernode": "processorsPerNode",
    "processorsoneachnode": "processorsPerNode",
    "memorypernode": "memoryPerNode",
    "maxruntime": "maxRunTime",
    "archivepath": "archivePath",
    "archivesystem": "archiveSystem",
    "batchqueue": "batchQueue",
    "outputpath": "outputPath",
    "localid": "localId",
    "errormessage": "message",
    "remotesubmitted": "remoteSubmitted",
    "remotestarted": "remoteStarted",
    "remoteended": "remoteEnded",
    "remotequeue": "remoteQueue",
    "tenantid": "tenantId",
    "workpath": "workPath",
    "blockedcount": "blockedCount",
}
_COMPARED: Final = {"eq", "neq", "in", "nin", "lt", "lte", "gt", "gte"}
_TIMES: Final = {*_COMPARED, "before", "after", "on", "between"}
_WORDS: Final = {"eq", "neq", "in", "nin", "like", "nlike"}
_OPERATORS: Final[Mapping[str, set[str]]] = {
    "text": _WORDS,
    "status": _WORDS,
    "json": _WORDS,
    "time": _TIMES,
    "number": _COMPARED,
    "memory": _COMPARED,
    "duration": _COMPARED,
    "switch": {"eq", "neq"},
}
_ALL: Final = {*_TIMES, *_WORDS, "rlike"}
_TERMS_MAX: Final = 50
_CHARS_MAX: Final = 2000
_EPOCH_MS: Final = 10**11
"""A larger number counts milliseconds."""
_SIZE: Final = re.compile(r"(\d{1,12}(?:\.\d{1,9})?) ?(KB|MB|GB|TB)?", re.IGNORECASE)
_GB: Final = {"KB": 1 / (1 << 20), "MB": 1 / (1 << 10), "GB": 1.0, "TB": 1024.0}


@dataclass(frozen=True)
class Term:
    """A condition on one field."""

    field: str
    operator: str
    values: tuple[Any, ...]

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Say whether a document of a job meets it."""
        kind = _FIELDS[self.field]
        value = _value_of(document, self.field, kind)
        if self.operator in {"neq", "nin", "nlike"}:
            return not self._is(value, kind)
        return value is not None and self._is(value, kind)

    def _is(self, value: Any, kind: str) -> bool:  # noqa: ANN401 (of any kind)
        if value is None:
            return False
        wanted = self.values
        match self.operator:
            case "like" | "nlike":
                return _is_like(str(value), wanted[0])
            case "in" | "nin" | "eq" | "neq":
                if kind == "time":
                    return any(_is_same(value, one) for one in wanted)
                return bool(value in wanted)
            case "on":
                day = day_of(wanted[0])
                return bool(day <= value < day_after(day))
            case "between":
                return bool(wanted[0] <= value <= wanted[1])
        return bool(_COMPARISONS[self.operator](value, wanted[0]))


_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "lt": lt,
    "before": lt,
    "lte": le,
    "gt": gt,
    "after": gt,
    "gte": ge,
}


def terms_of(pairs: Sequence[tuple[str, str]]) -> list[Term]:
    """Return the terms of a query; parameters that name no field are passed over."""
    terms = []
    for name, text in pairs:
        field, dot, operator = name.lower().partition(".")
        if field in _FIELDS and name.lower() not in {"limit", "offset"}:
            terms.append(_term(field, operator if dot else "eq", text))
    if len(terms) > _TERMS_MAX:
        raise bad_request(f"{len(terms)} search terms, at most {_TERMS_MAX}")
    return terms


def order_of(pairs: Sequence[tuple[str, str]]) -> tuple[str, bool] | None:
    """Return the field by which a list is sorted and whether the largest comes first; None: the
    newest job comes first.
    """
    by = parameter(pairs, "sortBy", "orderBy")
    order = (parameter(pairs, "sort", "order") or "").lower()
    if order not in {"", "asc", "desc"}:
        raise bad_request("sort: expected asc or desc")
    if by is not None and by.lower() not in _FIELDS:
        raise bad_request(f"sortBy: {by[:80]!r} is not a field of jobs")
    field = (by or "created").lower()
    is_down = order != "asc" if field == "created" else order == "desc"
    return None if field == "created" and is_down else (field, is_down)


def sort_key(field: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return what a list is sorted by; jobs without a value come first."""
    kind = _FIELDS[field]

    def key(document: Mapping[str, Any]) -> Any:  # noqa: ANN401 (of any kind)
        value = _value_of(document, field, kind)
        return (value is not None, value if value is not None else 0)

    return key


def name_of(field: str) -> str:
    """Return the name of a field in documents."""
    return _NAMES.get(field.lower(), field.lower())


def is_field(name: str) -> bool:
    """Say whether jobs can be searched by it."""
    return name.lower() in _FIELDS


def _term(field: str, operator: str, text: str) -> Term:
    kind = _FIELDS[field]
    if operator not in _ALL:
        raise bad_request(f"{field}.{operator[:40]}: not an operator")
    if operator == "rlike":
        raise bad_request(f"{field}.rlike: regular expressions are not searched for here")
    if operator not in _OPERATORS[kind]:
        raise bad_request(f"{field}.{operator}: not an operator for this field")
    if len(text) > _CHARS_MAX:
        raise bad_request(f"{field}: more than {_CHARS_MAX} characters")
    parts = [text]
    if operator in {"in", "nin", "between"}:
        parts = [one.strip() for one in text.split(",")]
    if operator == "between" and len(parts) != 2:  # noqa: PLR2004 (a begin and an end)
        raise bad_request(f"{field}.between: expected two values, between a comma")
    if operator in {"like", "nlike"}:
        return Term(field, operator, (text.upper() if kind == "status" else text,))
    return Term(field, operator, tuple(_read(field, kind, one) for one in parts))


def _read(field: str, kind: str, text: str) -> Any:  # noqa: ANN401 (of any kind)
    found: Any = _READERS[kind](text.strip() if kind not in {"text", "json"} else text)
    if found is None:
        raise bad_request(f"{field}: {text[:80]!r} is not what it can be compared with")
    return found


def _status(text: str) -> str | None:
    word = OLD_STATUSES.get(text.upper(), text.upper())
    return word if word in STATUSES else None


def _number(text: str) -> float | None:
    try:
        found = float(text) if len(text) < 40 else math.nan  # noqa: PLR2004 (no number needs more)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _memory(text: str) -> float | None:
    match = _SIZE.fullmatch(text)
    return None if match is None else float(match[1]) * _GB[(match[2] or "GB").upper()]


def _duration(text: str) -> float | None:
    seconds = seconds_of(text)
    return _number(text) if seconds is None else float(seconds)


def _switch(text: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower())


def _time(text: str) -> datetime | None:
    """Return an instant: ISO 8601, a date, or a number of seconds or milliseconds since 1970."""
    try:
        if re.fullmatch(r"\d{1,15}", text, re.ASCII):
            number = int(text)
            return datetime.fromtimestamp(number / 1000 if number > _EPOCH_MS else number, UTC)
        # A plus in an address is a blank, and some write none.
        given = re.sub(r" (\d\d:?\d\d)$", r"+\1", text)
        found = datetime.fromisoformat(given)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return _day_word(text)


def _day_word(text: str) -> datetime | None:
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = {"today": 0, "yesterday": -1, "tomorrow": 1}
    if text.lower() == "now":
        return datetime.now(UTC)
    return today + timedelta(days=days[text.lower()]) if text.lower() in days else None


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "text": str,
    "json": str,
    "status": _status,
    "number": _number,
    "memory": _memory,
    "duration": _duration,
    "switch": _switch,
    "time": _time,
}


def _value_of(document: Mapping[str, Any], field: str, kind: str) -> Any:  # noqa: ANN401
    if field in {"runtime", "walltime"}:
        begin = document["startTime"] if field == "runtime" else document["created"]
        if begin is None or document["ended"] is None:
            return None
        return (
            datetime.fromisoformat(document["ended"]) - datetime.fromisoformat(begin)
        ).total_seconds()
    value = document.get(name_of(field))
    if value is None:
        return None
    if kind == "time":
        return datetime.fromisoformat(value)
    if kind == "duration":
        return float(seconds_of(value) or 0)
    if kind == "json":
        return msgspec.json.encode(value).decode()
    return value


def _is_like(value: str, pattern: str) -> bool:
    """Say whether a text is like a pattern with `*`; greedy, so that none is slow."""
    first, *rest = pattern.split("*")
    if not rest:
        return value == pattern
    if not value.startswith(first):
        return False
    at, last = len(first), rest.pop()
    for part in rest:
        found = value.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(value) - at >= len(last) and value.endswith(last)


def _is_same(one: datetime, other: datetime) -> bool:
    """Say whether two instants are the same, as far as the one that is asked for is exact."""
    if other.microsecond == 0:
        one = one.replace(microsecond=0)
    return one == other


def day_of(at: datetime) -> datetime:
    """Return the begin of its day."""
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def day_after(day: datetime) -> datetime:
    """Return the begin of the next day, or the end of time."""
    return day + min(timedelta(days=1), datetime.max.replace(tzinfo=UTC) - day)
