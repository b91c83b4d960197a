"""Texts of a production line that stand in files beside its own: `message = "@scene.json"`."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from weft.core.bounded import read_toml
from weft.core.errors import InvalidSetup

BYTES_MAX: Final = 1 << 20


def with_texts(text: str, directory: Path) -> str:
    """Return a setup in which each `"@NAME"` of a query, a message or a schema is the text of that
    file below a directory. Raise `InvalidSetup`.
    """
    for field, name in {*_named(read_toml(text))}:
        key, file = re.escape(field), re.escape(name)
        pattern = re.compile(rf"""(\b{key}["']?\s*=\s*)(["'])@{file}\2""")
        written = json.dumps(_read(name, directory), ensure_ascii=False).replace("\x7f", "\\u007f")
        text = pattern.sub(partial(_written, written), text)
    return text


def _written(new: str, match: re.Match[str]) -> str:
    return match[1] + new


def _named(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield field and file of each text that is in one."""
    for section, fields in (("source", ("query",)), ("sink", ("message", "schema"))):
        tables = document.get(section)
        for table in tables.values() if isinstance(tables, Mapping) else ():
            for field in fields if isinstance(table, Mapping) else ():
                given = table.get(field)
                pairs = given.items() if isinstance(given, Mapping) else [(field, given)]
                for name, one in pairs:
                    if isinstance(one, str) and one.startswith("@"):
                        yield name, one[1:]


def _read(name: str, directory: Path) -> str:
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        raise InvalidSetup(f'"@{name}" should be a file beside that of the setup, or below')
    try:
        with (directory / path).open("rb") as file:
            found = file.read(BYTES_MAX + 1)
        if len(found) > BYTES_MAX:
            raise InvalidSetup(f"{directory / path} has more than {BYTES_MAX >> 20} MiB")
        return found.decode("utf-8-sig").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetup(f"could not read {directory / path}", detail=str(error)) from error
