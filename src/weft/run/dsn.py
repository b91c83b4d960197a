"""URLs of PostgreSQL: whether it is one, and the login in it."""

from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from weft.core.errors import Invalid


class BadDsn(Invalid):
    """`--database` is not a URL of PostgreSQL."""

    code = "UP.BAD_DSN"


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
