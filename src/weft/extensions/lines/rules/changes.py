"""What differs between two files of a production line."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from weft.core.bounded import read_toml


def changes_between(before: str, after: str) -> list[Mapping[str, Any]]:
    """Return the parts that are new, changed or gone, with their fields before and after.

    >>> [one["part"] for one in changes_between("[job.a]", "[job.b]")]
    ['job a', 'job b']
    """
    old, new = _parts(before), _parts(after)
    return [
        {
            "kind": "create" if part not in old else "change" if part in new else "delete",
            "part": part,
            "fields": fields,
        }
        for part in dict.fromkeys(chain(old, new))
        if (fields := _differing(old.get(part, {}), new.get(part, {})))
        or (part in old) != (part in new)
    ]


def _parts(text: str) -> dict[str, Mapping[str, Any]]:
    return {
        f"{section} {name}": table if isinstance(table, Mapping) else {"value": table}
        for section, tables in read_toml(text).items()
        for name, table in tables.items()
    }


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {
        name: [old.get(name), new.get(name)]
        for name in dict.fromkeys(chain(old, new))
        if old.get(name) != new.get(name)
    }
