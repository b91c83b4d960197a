"""In which line of a TOML file each key and table begins: `tomllib` does not say."""

from typing import Any

from weft.core.bounded import Unreadable, read_toml

Path = tuple[str, ...]
"""Keys, and numbers of list items from 0, as in a JSON pointer."""


def toml_lines(text: str) -> dict[Path, int]:
    r"""Return the line of each key and table. Raise `ValueError` if the file is not correct.

    >>> toml_lines('[[queue]]\nname = "a"')[("queue", "0", "name")]
    2
    >>> toml_lines('# queues\n[queue.a]')[("queue",)]
    2
    """
    read_toml(text)
    lines: dict[Path, int] = {(): 1}
    tables: dict[Path, int] = {}  # of each list of tables how many there are
    inside: Path = ()
    statement, begun = "", 1
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        statement, begun = (f"{statement}\n{line}", begun) if statement else (line, number)
        try:
            parsed = read_toml(statement)
        except Unreadable:
            continue  # it goes on in the next line
        keys, is_list = _keys(parsed)
        if statement.lstrip().startswith("["):
            inside = _resolved(keys, tables, is_list=is_list)
            for depth in range(1, len(inside) + 1):
                lines.setdefault(inside[:depth], begun)
        else:
            for depth in range(1, len(keys) + 1):
                lines.setdefault(inside + keys[:depth], begun)
        statement = ""
    return lines


def _keys(parsed: Any) -> tuple[Path, bool]:  # noqa: ANN401 (any document)
    """Return the keys of one statement, and whether it adds a table to a list."""
    keys: list[str] = []
    while isinstance(parsed, dict) and len(parsed) == 1:
        ((key, parsed),) = parsed.items()
        keys.append(key)
    return tuple(keys), parsed == [{}]


def _resolved(keys: Path, tables: dict[Path, int], *, is_list: bool) -> Path:
    """Return the path of a table: below a list of tables it belongs to the last one."""
    found: Path = ()
    for depth, key in enumerate(keys, 1):
        found += (key,)
        if is_list and depth == len(keys):
            tables[found] = tables.get(found, 0) + 1
        if found in tables:
            found += (str(tables[found] - 1),)
    return found
