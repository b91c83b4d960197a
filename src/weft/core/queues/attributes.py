"""The attributes of a request that guards may read, with their types.

The table in `docs/guides/queues-and-pools.md` is made from this one; a test compares the two.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from weft.core.text.texts import nearest

Path = tuple[str, ...]


class Attribute(NamedTuple):
    """One line of the table."""

    name: str
    type: str
    says: str
    example: Any  # of the type
    """A value that guards are tried with when they are saved."""

    @property
    def path(self) -> Path:
        """Return the name in parts."""
        return tuple(self.name.split("."))


MAP: Final = "map(string, string)"
ATTRIBUTES: Final = (
    Attribute("user", "string", "owner of the batch", "ann"),
    Attribute(
        "executor",
        "string",
        "that the job names; without one `function` if it calls a function, else `process`",
        "process",
    ),
    Attribute("batch.name", "string", "empty: it has none", "nightly"),
    Attribute("batch.billing_project", "string", "project that pays", "default"),
    Attribute("batch.attributes", MAP, "of the batch", {"team": "a"}),
    Attribute("job.name", "string", "empty: it has none", "count"),
    Attribute("job.app", "string", "application that it runs; empty: none", "count-1.0"),
    Attribute("job.attributes", MAP, "of the job", {"team": "a"}),
    Attribute("job.priority", "int", "from -1000 to 1000", 0),
    Attribute("job.count", "int", "jobs of its array; 1: not in an array", 1),
    Attribute("job.timeout_s", "double", "seconds; 0: no limit", 60.0),
    Attribute("job.always_run", "bool", "runs also after a failure or a cancel", False),  # noqa: FBT003 (an example)
    Attribute("job.max_attempts", "int", "attempts in all", 1),
    Attribute("job.resources.cpu", "double", "cores", 1.0),
    Attribute("job.resources.memory", "int", "bytes", 512 * 2**20),
    Attribute("job.resources.storage", "int", "bytes", 0),
    Attribute("job.resources.gpu", "int", "devices", 0),
    Attribute("now.hour", "int", "of the submission, UTC, 0 to 23", 12),
    Attribute("now.weekday", "int", "1 is Monday, 7 is Sunday", 1),
    Attribute("now.date", "string", "as 2026-11-21, UTC", "2026-11-21"),
)
BY_PATH: Final[Mapping[Path, Attribute]] = {attribute.path: attribute for attribute in ATTRIBUTES}
PARENTS: Final = frozenset(path[:n] for path in BY_PATH for n in range(1, len(path)))


def fields_below(path: Path) -> list[str]:
    """Return the names that may follow such a path; `()`: with which a path begins."""
    n = len(path)
    return list(dict.fromkeys(one[n] for one in BY_PATH if one[:n] == path and len(one) > n))


def meant_by(path: Path) -> str:
    """Return which attributes whoever wrote this path may mean; empty: none is like it."""
    same = [one.name for one in ATTRIBUTES if one.path[-1] == path[-1]]
    return " or ".join(same) or nearest(".".join(path), (one.name for one in ATTRIBUTES)) or ""
