"""The database and the login of a role process; URLs of PostgreSQL; login links for browsers."""

import asyncio
import json
from contextlib import closing
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from weft.core.database_name import database_name
from weft.core.errors import Invalid, Unavailable, WeftError
from weft.run.child import is_supervised
from weft.run.home import Home
from weft.settings import Settings

LOGINS: Final = ("weft_api", "weft_driver", "weft_worker")
"""Each may call the functions of its role, and no others."""


class NoRoleDatabase(Unavailable, code="UP.NO_DATABASE"):
    """There is neither a DSN nor a home that has one."""


def login_dsn(settings: Settings, login: str) -> str:
    """Return the DSN for a login such as `weft_driver`.

    A role of `weft up` has one of its own in the home's secrets. A role that is started alone, on
    another host for instance, takes the setting `database` if it is given, unless that names the
    login of another role.

    Raises `BadDsn`, `NoRoleDatabase`.
    """
    if settings.database is not None and not is_supervised():
        dsn = check_dsn(settings.database)
        named = user_of(dsn)
        if named == login or named not in LOGINS:
            return dsn
        # An api also serves workers outside, whose calls are not those of its own login.
        other = Home(settings.home).secrets(database_name(dsn)).get(login)
        if other is None:
            raise NoRoleDatabase(
                f"no login {login} is known here",
                detail=f"The setting `database` names {named}, which may not make the calls of "
                f"{login}, and secrets.json in {settings.home} has no other login.",
                hint="Use the home of the server, or name the owner of the database.",
            )
        return other
    found = Home(settings.home).secrets().get(login)
    if found is None:
        raise NoRoleDatabase(
            f"no database is known for {login}",
            detail=f"{settings.home} has no secrets.json, and no setting `database` is given.",
            hint="Start the role with `weft up`, or give it a login with `--database DSN`.",
        )
    return found


class BadDsn(Invalid, code="UP.BAD_DSN"):
    """`--database` is not a URL of PostgreSQL."""


def check_dsn(dsn: str) -> str:
    """Return a DSN that is a URL of PostgreSQL. Raise `BadDsn`, without the password in it."""
    why = "It must begin with postgresql://."
    try:
        parts = urlsplit(dsn)
        if parts.scheme in {"postgresql", "postgres"} and (parts.port or 1) > 0:
            return dsn
    except ValueError as error:
        why = f"{error}."
    raise BadDsn(
        "the setting `database` is not a URL of PostgreSQL",
        detail=why,
        hint="Write it as postgresql://user:password@host:5432/database.",
    )


def user_of(dsn: str) -> str:
    """Return the login in a DSN; empty if there is none."""
    parts = urlsplit(dsn)
    return dict(parse_qsl(parts.query)).get("user") or unquote(parts.username or "")


def password_of(dsn: str) -> str:
    """Return the password in a DSN; empty if there is none."""
    return unquote(urlsplit(dsn).password or "")


def with_login(dsn: str, user: str, password: str) -> str:
    """Return the DSN with another login.

    >>> with_login("postgresql://me:pw@db:5432/weft?user=x&sslmode=require", "weft_api", "s")
    'postgresql://weft_api:s@db:5432/weft?sslmode=require'
    """
    parts = urlsplit(dsn)
    hosts = parts.netloc.rpartition("@")[2]
    query = [(k, v) for k, v in parse_qsl(parts.query) if k not in {"user", "password"}]
    login = f"{quote(user, safe='')}:{quote(password, safe='')}"
    return urlunsplit(parts._replace(netloc=f"{login}@{hosts}", query=urlencode(query)))


PATIENCE_S: Final = 5.0


async def login_link(home: Home) -> str | None:
    """Return a link that logs a browser in as the owner of the home; None: the api makes none."""
    from weft.client.http.address import endpoint_of  # noqa: PLC0415 (h11 takes 10 ms)
    from weft.client.http.session import HttpSession  # noqa: PLC0415 (same)

    try:  # wherever variables and files may point
        session = HttpSession(endpoint_of(home.path), patience_s=PATIENCE_S)
        with closing(session):
            async with asyncio.timeout(PATIENCE_S):
                answer = await session.request("POST", "/v1/login-links", body=b"{}")
    except (WeftError, TimeoutError):
        return None
    return str(json.loads(answer)["url"])
