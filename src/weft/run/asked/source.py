"""The readings of one source, in a process of its own: `python -m weft.run.asked.source`.

The driver starts it with an environment without settings or secrets. The first line of standard
input says which kind it is and what it may do, each other line asks for a reading; each answer is
a line on standard output. What a source prints goes nowhere. The process ends when its input does.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Mapping
from typing import IO, Any, Final

from weft.core.addresses import parse_allowed_hosts
from weft.core.bounded import check_depth
from weft.core.ends.conditions import parse_tester_commands, parse_tester_paths
from weft.ports.source import (
    ITEM_BYTES_MAX,
    KEY_CHARS_MAX,
    READING_BYTES_MAX,
    SOURCE_PLUGINS,
    Item,
    Reading,
    Source,
    SourceFailed,
    SourceSite,
)

_BYTES_MAX: Final = 2 << 30
_INTEGER_MAX: Final = 2**63
_ERROR_CHARS_MAX: Final = 300


def main() -> None:
    """Read requests, answer each."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, sys.stdout.fileno())
    asked = os.fdopen(os.dup(sys.stdin.fileno()))
    os.dup2(null, sys.stdin.fileno())
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES_MAX, _BYTES_MAX))
    serve(asked, answers)


def serve(asked: IO[str], answers: IO[str]) -> None:
    """Answer until the input ends."""
    first = json.loads(asked.readline())
    site = SourceSite(
        paths=parse_tester_paths(first["paths"]),
        allowed=parse_allowed_hosts(first["private_hosts"]),
        stores=parse_allowed_hosts(first["store_hosts"]),
        commands=parse_tester_commands(first["commands"]),
        items_max=first["items_max"],
        timeout_s=first["timeout_s"],
    )
    source: Source | None = None
    for line in asked:
        one = json.loads(line)
        try:
            if source is None:
                source = _load(first["kind"])
            answer = shown(source.read(one["options"], one["cursor"], site))
        except SourceFailed as error:
            answer = {"error": str(error), "retry_after_s": error.retry_after_s}
        except MemoryError:
            answer = {"error": "it takes too much memory"}
        except Exception as error:  # noqa: BLE001 (a plug-in may raise anything)
            answer = {"error": f"{type(error).__name__}: {error}"[:_ERROR_CHARS_MAX]}
        print(json.dumps(answer), file=answers, flush=True)


def shown(reading: Reading) -> dict[str, Any]:
    """Return a reading as it is sent. Raise `SourceFailed` if it is too large."""
    found, size = [], 0
    for one in reading.items:
        item = _checked(one)
        size += len(json.dumps(item))
        if size > READING_BYTES_MAX:
            raise SourceFailed(f"one reading has more than {READING_BYTES_MAX >> 20} MiB")
        found.append(item)
    cursor = None if reading.cursor is None else {**reading.cursor}
    return {"found": found, "cursor": cursor, "more": reading.more}


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
        if not -_INTEGER_MAX <= value < _INTEGER_MAX:
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
        raise SourceFailed(f"there is no kind of source {kind!r}; installed are "
                           f"{', '.join(SOURCE_PLUGINS.names())}")  # fmt: skip
    return found()


if __name__ == "__main__":
    main()
    if os.getpgrp() == os.getpid():  # as the driver starts it: end what the source started, too
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
