"""The form of `secrets.json`: logins by database.

    admin, weft_api, …   the logins of the database in use
    database             its name
    kept                 the logins of databases that were in use before, by name

Earlier releases wrote only the logins in use.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

EMBEDDED = "embedded"
"""The name of the embedded database."""
_OF_EMBEDDED = ("postgresql://postgres:", "@/postgres?host=")


def database_name(dsn: str) -> str:
    """Return the name of an external database: its place, whoever logs in and however.

    >>> database_name("postgresql://me:pw@db.example:5432/weft?sslmode=require")
    'db.example/weft'
    >>> database_name("postgresql://you@/weft?host=/run/pg&port=5433")
    '/run/pg:5433/weft'
    """
    parts = urlsplit(dsn)
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    login, _, host = parts.netloc.rpartition("@")
    host = unquote(host).lower() or query.get("host", "")
    if "port" in query:
        host = f"{host}:{query['port']}"
    user = query.get("user") or unquote(login.partition(":")[0])
    name = unquote(parts.path.strip("/")) or query.get("dbname") or query.get("database") or user
    return f"{host.removesuffix(':5432')}/{name}"


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
