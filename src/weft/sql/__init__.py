"""All SQL of weft, as files. This module only finds and orders them.

`schema/` makes the tables of an empty database, as they are now. `migrations/` bring an older one
there, once each: `NNNN_pre_*` before this program runs, `NNNN_post_*` when all older ones are
gone. `functions/` and `views/` are replaced where they changed, so the body of
each function has one file; the owner of the database runs `owner/` before that; `catalog/`
asks the database what it has; `audit/` are queries that return no row when all is well.
States, phases, reasons, settings and ways to plan are written by name (`names.py`),
as `ROWS_OF_QUERIES weft.batch;` is for a policy of a table
(`rows/`); a table with a `tenant_id` has those of tenants without saying so. A check of the audit
whose head says that a batch which is being removed is incomplete looks at the others; whose
rights a function has follows from its head.
Patterns begin with letters, and look behind for what may precede them: so `re` skips to them, ten
times as fast.
Functions stand in folders by subject, those of a package in its own folder `sql/`; the name of
a file is unique among all of its kind.
Must not: hold text of a query, or know how to connect.

What follows from the head of a function: its owner, its callers, and whose rights it has.

A head ends with `-- Owner: weft_tenant.` and `-- Granted to: weft_api.`; what follows from it is
in no file. What a role that logs in may call runs with the rights of its owner and looks names up
in safe places; a function that the roles of functions call says SECURITY DEFINER itself.
In PL/pgSQL a name that is a column and a variable is the column, unless the body says otherwise:
that is put on the first line of a body, whose lines keep their numbers. What the api calls for
a tenant (`tenant_id int` is among its parameters) sees the rows of no other: it begins with
`_as_tenant`, unless the body says where. What a driver calls in its term (`epoch bigint` is the
first parameter) is refused when that is over: it begins with `_check_epoch`, or `_check_term` if
it only reads, unless the body says where.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Final

from weft.ports.extension import installed
from weft.sql.names import with_numbers, with_profiles, with_settings

LOGINS: Final = frozenset({"weft_api", "weft_driver", "weft_worker"})
"""The roles that programs log in as."""

_RIGHTS = re.compile(
    r"Owner: (?<=^-- Owner: |   Owner: )(\w+)\."
    r"(?:(?:  |\n-- )Granted to: (\w+(?:,(?: |\n--   )\w+)*)\.)?$",
    re.MULTILINE,
)
_CLAUSES = re.compile(r"LANGUAGE (?<!\wLANGUAGE )(sql|plpgsql)\b(.*?AS \$\$)", re.DOTALL)
_DEFINER = "SECURITY DEFINER"
_SAFE_PATH = "SET search_path = pg_catalog, pg_temp"
_CONFLICT = "#variable_conflict"
_FOR_TENANT = re.compile(r"FUNCTION weft\.(\w+)\([^$]*?\btenant_id int\b[^$]*LANGUAGE plpgsql")
_WALL = "weft._as_tenant("
_IN_TERM = re.compile(r"FUNCTION weft\.(\w+)\(\s*epoch bigint\b[^$]*LANGUAGE plpgsql")
_FENCES = "weft._check_epoch(", "weft._check_term("
_READS = "yes, it only reads"


@dataclass(frozen=True)
class Rights:
    """The owner of a function and the roles that may call it."""

    owner: str
    granted_to: tuple[str, ...]


def rights_in(source: str) -> Rights | None:
    """Return the rights that the head of a function states, None if it states none."""
    match = _RIGHTS.search(source)
    return match and Rights(match[1], tuple(re.findall(r"\w+", match[2] or "")))


def with_clauses(source: str) -> str:
    """Return the text of a function with the clauses that follow from its head."""
    rights = rights_in(source)
    if rights is None:
        return source
    is_login = not LOGINS.isdisjoint(rights.granted_to)
    has_choice = _CONFLICT in source

    def clauses(match: re.Match[str]) -> str:
        language, rest = match.groups()
        if is_login and _DEFINER not in rest:
            rest = f" {_DEFINER}{rest}"
        rest = rest.replace(_DEFINER, f"{_DEFINER} {_SAFE_PATH}")
        choice = f" {_CONFLICT} use_column" if language == "plpgsql" and not has_choice else ""
        return f"LANGUAGE {language}{rest}{choice}"

    return _CLAUSES.sub(clauses, _begun(source, rights), count=1)


def _begun(source: str, rights: Rights) -> str:
    """Put first what walls a call for a tenant, or fences one of a driver."""
    first = None
    if rights.owner == "weft_tenant" and "weft_api" in rights.granted_to and _WALL not in source:
        name = _FOR_TENANT.search(source)
        first = name and f"{_WALL}{name[1]}.tenant_id)"
    elif "weft_driver" in rights.granted_to and not any(fence in source for fence in _FENCES):
        name = _IN_TERM.search(source)
        first = name and f"{_FENCES[_READS in source]}{name[1]}.epoch)"
    return source.replace("\nBEGIN\n", f"\nBEGIN PERFORM {first};\n", 1) if first else source


FIRST_SCHEMA = 1
"""The number of the schema that no migration has changed yet."""
_COMMENT = re.compile(r"\s*--[^\n]*|\s+")
_POLICIES = re.compile(r"(ROWS_(?<=^ROWS_)[A-Z_]+) (weft\.\w+);$", re.MULTILINE)
_TABLE = re.compile(r"TABLE (weft\.\w+) \(.*?^\)[^;]*;", re.MULTILINE | re.DOTALL)
_TENANT = "\n    tenant_id "
_INCOMPLETE = "\n-- A batch that is being removed is incomplete.\n"


@dataclass(frozen=True)
class SqlFile:
    """One file of SQL: its name without `.sql`, and its text as it stands in the file."""

    name: str
    source: str

    @cached_property
    def text(self) -> str:
        """Return the text for the database: clauses are added, names of constants replaced."""
        source = of_lasting_batches(with_policies(self.source))
        return with_settings(with_numbers(with_profiles(with_clauses(source))))

    @property
    def sentence(self) -> str:
        """Return what the head begins with, which may stand on several lines."""
        first, *others = self.source.split("\n")
        more = takewhile(lambda line: line.startswith("--   "), others)
        return " ".join(line.lstrip("- ") for line in (first, *more))

    @cached_property
    def checksum(self) -> str:
        """Return a checksum that changes with the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class WholeSchema(SqlFile):
    """All of `schema/`, named after the newest migration whose effect it contains."""

    @cached_property
    def checksum(self) -> str:
        """Return a checksum that changes with what it makes; comments make nothing."""
        return hashlib.sha256(_COMMENT.sub(" ", self.text).encode()).hexdigest()[:16]


def with_policies(source: str) -> str:
    """Return the text with the policies of `rows/`: where they are named, and of tenants."""

    def walled(match: re.Match[str]) -> str:
        wall = f"\nROWS_OF_TENANT {match[1]};" if _TENANT in match[0] else ""
        return match[0] + wall

    def policies(match: re.Match[str]) -> str:
        return _rows(match[1].lower()).replace("TABLE_NAME", match[2])

    return _POLICIES.sub(policies, _TABLE.sub(walled, source))


def of_lasting_batches(source: str) -> str:
    """Return a check of the audit without batches that are being removed, if its head says so."""
    head, says_so, query = source.partition(_INCOMPLETE)
    if not says_so:
        return source
    return f"{head}\n{_rows('rows_of_lasting_batches').replace('CHECKED', query.rstrip())}\n"


def _rows(name: str) -> str:
    (text,) = (file.source for file in files_of("rows") if file.name == name)
    return text.partition("\n")[2].rstrip()


@cache
def homes() -> Sequence[Path]:
    """Return the folders of SQL: of the house, and of each installed package that has one."""
    packages = (import_module(one.sql).__path__[0] for one in installed() if one.sql)
    return (Path(__file__).parent, *(Path(one, "sql") for one in packages))


@cache
def files_of(folder: str) -> tuple[SqlFile, ...]:
    """Return the files of a folder and those below it, in order of their names.

    No files if there is no such folder: git and wheels keep no empty ones.
    """
    below = (path for home in homes() for path in (home / folder).rglob("*.sql"))
    paths = sorted(below, key=lambda path: path.stem)
    found = [SqlFile(path.stem, path.read_text(encoding="utf-8")) for path in paths]
    twice = [one.name for one, other in pairwise(found) if one.name == other.name]
    assert not twice, f"{folder}/ has several files named {', '.join(twice)}"
    return tuple(found)


def text_of(folder: str, name: str) -> str:
    """Return the text of one file."""
    (text,) = (file.text for file in files_of(folder) if file.name == name)
    return text


@cache
def program_schema() -> int:
    """Return the number of the newest `pre` migration: the schema that this program needs."""
    numbers = (number_of(file.name) for file in files_of("migrations") if not is_post(file))
    return max(numbers, default=FIRST_SCHEMA)


@cache
def whole_schema() -> WholeSchema:
    """Return what makes the tables of an empty database."""
    newest = max((number_of(file.name) for file in files_of("migrations")), default=FIRST_SCHEMA)
    source = "\n".join(file.source for file in files_of("schema"))
    return WholeSchema(f"{newest:04d}_schema", source)


def number_of(name: str) -> int:
    """Return the number of a migration, or of a schema, from its name."""
    return int(name[:4])


def is_post(migration: SqlFile) -> bool:
    """Say whether a migration belongs to the contract step."""
    return migration.name[5:].startswith("post_")


def rights_of(file: SqlFile) -> Rights:
    """Return what the head of a function says about its rights."""
    rights = rights_in(file.source)
    assert rights, f"{file.name}.sql has no `Owner: ….` at the end of its head"
    return rights


@cache
def replaceable_checksum() -> str:
    """Return one checksum over all functions and views."""
    text = "".join(
        one.name + one.checksum for folder in ("functions", "views") for one in files_of(folder)
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]
