"""The form of `secrets.json`: logins by database.

admin, weft_api, …   the logins of the database in use
database             its name
kept                 the logins of databases that were in use before, by name
"""

from collections.abc import Mapping
from typing import Any

from weft.core.database_name import database_name

EMBEDDED = "embedded"
"""The name of the embedded database."""
_OF_EMBEDDED = ("postgresql://postgres:", "@/postgres?host=")


def logins_in(document: Mapping[str, Any], database: str | None = None) -> dict[str, str]:
    """Return the DSN by login for a database; None: for the one in use. Empty: none are known."""
    found: object = document
    if database not in {None, _name_in_use(document)}:
        found = _kept_in(document).get(str(database))
    if not isinstance(found, Mapping):
        return {}
    return {
        str(login): str(dsn)
        for login, dsn in found.items()
        if login != "database" and isinstance(dsn, str)
    }


def with_logins(
    document: Mapping[str, Any], database: str, logins: Mapping[str, str], *, in_use: bool
) -> dict[str, Any]:
    """Return the document with the logins of a database, which is in use from now on or not."""
    current = _name_in_use(document)
    kept = dict(_kept_in(document))
    if current is not None:
        kept[current] = logins_in(document)
    kept[database] = dict(logins)
    used = database if in_use else current
    result: dict[str, Any] = {}
    if used is not None:
        result |= {**kept.pop(used), "database": used}
    return result | ({"kept": kept} if kept else {})


def _name_in_use(document: Mapping[str, Any]) -> str | None:
    name, admin = document.get("database"), document.get("admin")
    if isinstance(name, str):
        return name
    if not isinstance(admin, str):
        return None
    begin, middle = _OF_EMBEDDED
    is_embedded = admin.startswith(begin) and middle in admin
    return EMBEDDED if is_embedded else database_name(admin)


def _kept_in(document: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = document.get("kept")
    return kept if isinstance(kept, Mapping) else {}
