"""What follows from the head of a function: its owner, its callers, and whose rights it has.

A head ends with `-- Owner: weft_tenant.  Granted to: weft_api.`; what follows from it is in no
file. What a role that logs in may call runs with the rights of its owner and looks names up in
safe places; a function that the roles of functions call says SECURITY DEFINER itself.
In PL/pgSQL a name that is a column and a variable is the column, unless the body says otherwise:
that is put on the first line of a body, whose lines keep their numbers. What the api calls for
a tenant (`tenant_id int` is among its parameters) sees the rows of no other: it begins with
`_as_tenant`, unless the body says where.
"""

import re
from dataclasses import dataclass
from typing import Final

LOGINS: Final = frozenset({"weft_api", "weft_driver", "weft_worker"})
"""The roles that programs log in as."""

_RIGHTS = re.compile(
    r"Owner: (?<=^-- Owner: |   Owner: )(\w+)\.(?:  Granted to: (\w+(?:, \w+)*)\.)?$", re.MULTILINE
)
_CLAUSES = re.compile(r"LANGUAGE (?<!\wLANGUAGE )(sql|plpgsql)\b(.*?AS \$\$)", re.DOTALL)
_DEFINER = "SECURITY DEFINER"
_SAFE_PATH = "SET search_path = pg_catalog, pg_temp"
_CONFLICT = "#variable_conflict"
_FOR_TENANT = re.compile(r"FUNCTION weft\.(\w+)\([^$]*?\btenant_id int\b[^$]*LANGUAGE plpgsql")
_WALL = "weft._as_tenant("


@dataclass(frozen=True)
class Rights:
    """The owner of a function and the roles that may call it."""

    owner: str
    granted_to: tuple[str, ...]


def rights_in(source: str) -> Rights | None:
    """Return the rights that the head of a function states, None if it states none."""
    match = _RIGHTS.search(source)
    return match and Rights(match[1], tuple(filter(None, (match[2] or "").split(", "))))


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

    return _CLAUSES.sub(clauses, _walled(source, rights), count=1)


def _walled(source: str, rights: Rights) -> str:
    of_tenant = rights.owner == "weft_tenant" and "weft_api" in rights.granted_to
    name = _FOR_TENANT.search(source) if of_tenant and _WALL not in source else None
    if name is None:
        return source
    return source.replace("\nBEGIN\n", f"\nBEGIN PERFORM {_WALL}{name[1]}.tenant_id);\n", 1)
