"""Databases of production lines: their addresses, and statements with `:NAME` for values.

A value is never a part of a statement: the server gets it beside it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from weft.core.deliveries.callback_url import URL_CHARS_MAX, CallbackTarget, parse_target
from weft.core.deliveries.credentials import SECRET, wrong_authority

CURSOR: Final = "cursor"
DELIVERY: Final = "delivery"
MESSAGE: Final = "message"
STATEMENT_CHARS_MAX: Final = 20_000
VALUES_MAX: Final = 50
_SCHEMES: Final = ("postgresql://", "postgres://")
_PORT: Final = 5432
_TLS: Final = ("verify-full", "require", "disable")
"""By the words of libpq. The first is meant if nothing is said."""
_NAME: Final = re.compile(r"[A-Za-z_]\w{0,62}")
_SKIPPED: Final = r"""
    [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
    | \$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?\$(?P=tag)\$ | --[^\n]* | /\*.*?\*/ | :: | :=
"""
_PART: Final = re.compile(
    rf"(?P<skipped>{_SKIPPED})|:(?P<name>[A-Za-z_]\w*)|(?P<open>'|\"|/\*)|(?P<own>\$\d+)",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class DatabaseAddress:
    """Where a database is, and who asks it."""

    host: str
    port: int
    database: str
    user: str
    password: str = field(repr=False)
    tls: str
    """One of `verify-full`, `require`, `disable`."""

    @property
    def shown(self) -> str:
        """Return its name in messages."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Statement:
    """A statement as the server gets it, with `$1` for the first name."""

    text: str
    names: tuple[str, ...]


def parse_database_url(url: str) -> DatabaseAddress:
    """Read an address such as `postgresql://ann:PASSWORD@db.example/archive`. Raise `ValueError`
    that says what is wrong with it.
    """
    if len(url) > URL_CHARS_MAX:
        raise ValueError(f"{len(url)} characters, at most {URL_CHARS_MAX}")
    scheme = next((one for one in _SCHEMES if url.startswith(one)), None)
    if scheme is None:
        raise ValueError("not an address such as postgresql://USER:PASSWORD@HOST/DATABASE")
    login, at, _ = url.removeprefix(scheme).partition("/")[0].rpartition("@")
    user, _, password = unquote(login).partition(":")
    if not at or not user:
        raise ValueError("it names no user: postgresql://USER:PASSWORD@HOST/DATABASE")
    # Host and port are read as those of callbacks, which two programs cannot read differently.
    after = url.removeprefix(scheme).removeprefix(login + at)
    has_port = re.match(r"(\[[^\]]*\]|[^/:?\[]*):", after) is not None
    target: CallbackTarget = parse_target("http://" + after)
    parts = urlsplit(f"//{after}")
    database = unquote(parts.path.removeprefix("/"))
    if not database or "/" in database or not database.isprintable():
        raise ValueError("it names no database: postgresql://USER:PASSWORD@HOST/DATABASE")
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    tls = query.pop("sslmode", _TLS[0])
    if query:
        raise ValueError(f"after ? it may say sslmode, not {min(query)}")
    if tls not in _TLS:
        raise ValueError(f"sslmode should be one of {', '.join(_TLS)}")
    port = target.port if has_port else _PORT
    return DatabaseAddress(target.host, port, database, user, password, tls)


def wrong_database_url(given: object) -> str:
    """Say what is wrong with an address, which may have secrets in its login; empty: nothing."""
    url = str(given)
    if what := wrong_authority(url, only_secrets=True):
        return what
    if "${" in url.rpartition("@")[2]:
        return "a secret may stand in its login only"
    try:
        database_host(url)
    except ValueError as error:
        return str(error)
    return ""


def database_host(url: str) -> str:
    """Return the host of an address, which may have secrets."""
    return parse_database_url(SECRET.sub("x", url)).host


def parse_statement(text: str) -> Statement:
    """Read one statement with `:NAME` for values. Raise `ValueError` that says what is wrong."""
    names: list[str] = []

    def numbered(match: re.Match[str]) -> str:
        line = text.count("\n", 0, match.start()) + 1
        if match["own"]:
            raise ValueError(f"line {line} of it: {match['own']} should be a name such as :tile")
        if match["open"]:
            raise ValueError(f"line {line} of it: {match['open']} has no end")
        if match["skipped"]:
            return match["skipped"]
        if (name := match["name"]) not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    numbers = _PART.sub(numbered, text).strip().removesuffix(";")
    return Statement(numbers, tuple(names))


def wrong_statement(given: object, known: Callable[[str], bool], what: str) -> str:
    """Say what is wrong with a statement; empty: nothing. `what`: the names that are `known`."""
    if not isinstance(given, str) or not given.strip() or len(given) > STATEMENT_CHARS_MAX:
        return f"it should be one statement of SQL of at most {STATEMENT_CHARS_MAX} characters"
    if "${" in given:
        return "nothing is filled into SQL: write a name such as :tile, which stands for a value"
    if "\0" in given:
        return "it has a character U+0000"
    try:
        names = parse_statement(given).names
    except ValueError as error:
        return str(error)
    unknown = next((name for name in names if not known(name)), None)
    return "" if unknown is None else f":{unknown} is not known here; {what}"


def wrong_values(given: object) -> str:
    """Say what is wrong with a table of values for names; empty: nothing."""
    if (
        isinstance(given, Mapping)
        and len(given) <= VALUES_MAX
        and all(_NAME.fullmatch(name) for name in given)
        and all(isinstance(one, str | int | float) for one in given.values())
    ):
        return f"{CURSOR} is what the source has read last" if CURSOR in given else ""
    return f"it should be a table of at most {VALUES_MAX} texts and numbers"


def wrong_query(options: Mapping[str, Any]) -> str:
    """Say what is wrong with the query of a source or look-up, beside its values."""
    values = options.get("values")
    known = {*(values if isinstance(values, Mapping) else ())}
    known |= {CURSOR} if "cursor" in options else set()
    return wrong_statement(
        options.get("query"),
        known.__contains__,
        f"it knows {', '.join(f':{one}' for one in sorted(known)) or 'none'}, from `values`",
    )
