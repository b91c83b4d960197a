"""Reads one source."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from weft.core.bounded import check_depth
from weft.ports.source import (
    INTEGER_MAX,
    ITEM_BYTES_MAX,
    KEY_CHARS_MAX,
    READING_BYTES_MAX,
    SOURCE_PLUGINS,
    Item,
    Reading,
    Source,
    SourceFailed,
    SourceRead,
    SourceSite,
)

_ERROR_CHARS_MAX: Final = 300


def begin(
    asked: tuple[str, SourceSite],
) -> Callable[[tuple[Mapping[str, Any], Mapping[str, Any] | None]], SourceRead]:
    """Return what reads from a cursor on, with options."""
    kind, site = asked
    source: Source | None = None

    def read(options_and_cursor: tuple[Mapping[str, Any], Mapping[str, Any] | None]) -> SourceRead:
        nonlocal source
        try:
            if source is None:  # again, if it could not be made
                source = _load(kind)
            return shown(source.read(*options_and_cursor, site))
        except SourceFailed as error:
            return SourceRead(error=str(error), retry_after_s=error.retry_after_s)

    return read


def shown(reading: Reading) -> SourceRead:
    """Return a reading as it is sent. Raise `SourceFailed` if it is too large."""
    found, size = [], 0
    for one in reading.items:
        item = _checked(one)
        text = json.dumps(item)
        size += len(text)
        if size > READING_BYTES_MAX:
            raise SourceFailed(f"one reading has more than {READING_BYTES_MAX >> 20} MiB")
        found.append(json.loads(text))
    cursor = (
        None
        if reading.cursor is None
        else json.loads(json.dumps({**reading.cursor}, allow_nan=False))
    )
    return SourceRead(found, cursor, reading.more)


def _checked(item: Item) -> Mapping[str, Any]:
    """Return an item that the database can keep; one that it cannot has an error instead."""
    key = item.key.encode("utf-8", "backslashreplace").decode()
    key = "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in key)
    if key != item.key or not 1 <= len(key) <= KEY_CHARS_MAX:
        reason = f"its key should have 1 to {KEY_CHARS_MAX} printable characters"
        return {"key": key[:KEY_CHARS_MAX] or "?", "fields": None, "error": reason}
    if item.fields is None:
        return {"key": key, "fields": None, "error": item.error[:_ERROR_CHARS_MAX]}
    try:
        check_depth(item.fields)
        _check(item.fields)
        size = len(json.dumps(item.fields, allow_nan=False, ensure_ascii=False).encode())
        if size > ITEM_BYTES_MAX:
            raise ValueError(f"its fields have more than {ITEM_BYTES_MAX >> 10} KiB")  # noqa: TRY301 (as the others)
    except (ValueError, TypeError, RecursionError) as error:
        said = "a text that is not Unicode" if isinstance(error, UnicodeError) else str(error)
        return {"key": key, "fields": None, "error": said[:_ERROR_CHARS_MAX]}
    return {"key": key, "fields": {**item.fields}, "error": None}


def _check(value: object) -> None:
    """Raise `ValueError` for what JSON of the database cannot hold."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a text has a character U+0000")
    elif isinstance(value, bool | float | None):
        pass
    elif isinstance(value, int):
        if not -INTEGER_MAX <= value < INTEGER_MAX:
            raise ValueError("a number has more than 64 bits")
    elif isinstance(value, Mapping):
        for name, one in value.items():
            _check(name)
            _check(one)
    elif isinstance(value, list | tuple):
        for one in value:
            _check(one)


def _load(kind: str) -> Source:
    found = SOURCE_PLUGINS.find(kind)
    if found is None:
        raise SourceFailed(
            f"there is no kind of source {kind!r}; installed are "
            f"{', '.join(SOURCE_PLUGINS.names())}"
        )
    return found()
