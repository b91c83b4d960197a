"""All SQL of weft, as files; this module only finds and orders them.

`migrations/` change tables, once each and in order; `functions/` and `views/` are replaced by
every migration run, so the body of a function has one home; `owner/` is what the owner of the
database runs before that; `audit/` are queries that return no row when all is well.
Must not: hold text of a query, or know how to connect.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_RIGHTS = re.compile(r"^-- Owner: (\w+)\.(?:\s+Granted to: ([\w, ]+)\.)?$", re.MULTILINE)


@dataclass(frozen=True)
class SqlFile:
    """One file of SQL. `name` is the file's name without `.sql`."""

    name: str
    text: str

    @property
    def checksum(self) -> str:
        """Return what tells that the text was changed."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Rights:
    """Who owns a function and who may call it."""

    owner: str
    granted_to: tuple[str, ...]


@cache
def files_of(folder: str) -> tuple[SqlFile, ...]:
    """Return the files of a folder in order of their names; none if there is no such folder."""
    place = files(__package__).joinpath(folder)
    if not place.is_dir():  # git and wheels keep no empty ones
        return ()
    found = [
        SqlFile(entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8"))
        for entry in place.iterdir()
        if entry.name.endswith(".sql")
    ]
    return tuple(sorted(found, key=lambda one: one.name))


def rights_of(file: SqlFile) -> Rights:
    """Read the line `-- Owner: weft_system.  Granted to: weft_worker.` of a function's header."""
    match = _RIGHTS.search(file.text)
    assert match, f"{file.name}.sql has no line `-- Owner: ….`"
    granted = tuple(role.strip() for role in (match[2] or "").split(",") if role.strip())
    return Rights(owner=match[1], granted_to=granted)


@cache
def replaceable_checksum() -> str:
    """Return one checksum over all functions and views."""
    text = "".join(
        one.name + one.checksum for folder in ("functions", "views") for one in files_of(folder)
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]
