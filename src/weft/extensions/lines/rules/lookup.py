"""Look-ups of a configuration, `let.NAME`: what is asked elsewhere about an item, and what becomes
of the item if that knows nothing.

What an item says is quoted in an address, and never chooses its host. Secrets are opened when a
question is asked.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, quote, urlsplit

from weft.core.deliveries.callback_url import parse_callback_url, without_login
from weft.core.deliveries.credentials import (
    AUTHORITY,
    SECRET,
    wrong_authority,
    wrong_credential,
    wrong_headers,
)
from weft.core.text.durations import duration_of
from weft.core.text.filling import FIELD, ValueOf, filled, wrong_text
from weft.extensions.lines.rules.sql import SQL, wrong_database_url, wrong_query, wrong_values
from weft.ports.lookup import Question

LETS_MAX: Final = 10
CACHE_MOST: Final = timedelta(days=1)
HTTP: Final = "http"
ROOTS: Final = ("item", "param")
_NAME: Final = re.compile(r"[a-z][A-Za-z0-9_]{0,62}")
_OWN: Final = ("plugin", "value", "cache", "on_missing")
_OF: Final[Mapping[str, tuple[str, ...]]] = {
    HTTP: ("url", "query", "headers"), SQL: ("url", "query", "values"),
}  # fmt: skip
_OPTIONS_MAX: Final = 50
_CHARS_MAX: Final = 2000
_SAFE: Final[Mapping[str, str]] = {"item": "/", "param": ":/?&=%#@,+"}
"""Signs of a value that an address keeps: only operators set parameters."""
_VERBATIM: Final = re.compile(r"\$\{param\.")
_PLAIN_LOGIN: Final = "write its password as ${secret.NAME}, a secret of the owner of the source"
Wrong = Callable[[tuple[str, ...], str], None]
Missing = Literal["waiting", "refused", "cancelled"]
BY_CORE: Final[Mapping[str, Missing]] = {
    "blocked": "waiting", "failed": "refused", "error": "refused", "cancelled": "cancelled",
}  # fmt: skip
"""What becomes of an item whose job would be in this state (items are no jobs yet)."""
WAITING: Final[Missing] = "waiting"


def check_lets(given: object, wrong: Wrong, taken: frozenset[str]) -> frozenset[str]:
    """Check the table `let`, all but its expressions; return the names. `taken`: names that mean
    something else.
    """
    if not isinstance(given, Mapping) or len(given) > LETS_MAX:
        wrong(("let",), f"it should be a table of at most {LETS_MAX} look-ups")
        return frozenset()
    for name, one in given.items():
        where = ("let", name)
        if not _NAME.fullmatch(name) or name in taken:
            wrong(where, "a name is a word in small letters such as esa, and no word of CEL")
        elif not isinstance(one, Mapping):
            wrong(where, 'it should be a table such as {plugin = "http", url = "https://…"}')
        else:
            _check(one, partial(_say_below, wrong, where))
    return frozenset(name for name, one in given.items() if isinstance(one, Mapping))


def _say_below(wrong: Wrong, where: tuple[str, ...], field: tuple[str, ...], what: str) -> None:
    wrong((*where, *field), what)


def _check(one: Mapping[str, Any], wrong: Wrong) -> None:
    plugin = one.get("plugin")
    if not isinstance(plugin, str) or not plugin:
        wrong(("plugin",), 'a look-up needs it, such as "http"')
    if "cache" in one:
        cache = duration_of(one["cache"])
        if cache is None or cache > CACHE_MOST:
            wrong(("cache",), 'it should be a time such as "10m", at most "1d"')
    if not isinstance(one.get("on_missing", WAITING), str):
        wrong(("on_missing",), f"it should be a status, or one of {', '.join(_words())}")
    options = _options(one)
    if len(options) > _OPTIONS_MAX:
        wrong((), f"it has more than {_OPTIONS_MAX} options")
    for field, value in options.items():
        own = _OF.get(str(plugin))
        if own is not None and field not in own:
            known = ", ".join((*_OWN, *own))
            wrong((field,), f"a look-up by {plugin} has no such field; it has {known}")
        elif field == "query" and plugin == HTTP and not isinstance(value, Mapping):
            wrong((field,), "it should be a table of texts and numbers")
        for text in _texts(value):
            is_url = plugin == HTTP and field == "url"
            if what := wrong_text(SECRET.sub("x", text), roots=ROOTS, is_address=is_url):
                wrong((field,), what)
    told = any(SECRET.search(text) for text in _texts(options))
    if plugin == HTTP:
        _check_http(options, wrong, told=told)
    elif plugin == SQL:
        _check_sql(options, wrong)
    elif told and names_of(one, "param"):
        wrong((), "it names a secret, so it reads no parameters: others set them")


def _check_http(options: Mapping[str, Any], wrong: Wrong, *, told: bool) -> None:
    """Check what goes by HTTP. `told`: it names secrets."""
    if what := _wrong_url(options.get("url"), told=told):
        wrong(("url",), what)
    query = options.get("query")
    if isinstance(query, Mapping) and (what := wrong_credential(query.items())):
        wrong(("query",), what)
    if "headers" in options and (what := wrong_headers(options["headers"])):
        wrong(("headers",), what)


def _check_sql(options: Mapping[str, Any], wrong: Wrong) -> None:
    url = options.get("url", "")
    login = AUTHORITY.match(str(url))
    if what := wrong_database_url(url):
        wrong(("url",), what)
    elif login is not None and login[1] and "${" not in login[1]:
        wrong(("url",), _PLAIN_LOGIN)
    if "values" in options and (what := wrong_values(options["values"])):
        wrong(("values",), what)
    elif what := wrong_query(options):
        wrong(("query",), what)


def _wrong_url(given: object, *, told: bool) -> str:
    if not isinstance(given, str) or not 1 <= len(given) <= _CHARS_MAX:
        return f"a look-up by http needs an address of at most {_CHARS_MAX} characters"
    match = AUTHORITY.match(given)
    if told and (match is None or "${" in match[2]):
        return "it is told a secret: write out its host"
    if _VERBATIM.match(given):
        return ""
    login = None if match is None else match[1]
    if login is not None and (what := wrong_authority(given)):
        return what
    if login and "${" not in login:
        return _PLAIN_LOGIN
    try:
        parse_callback_url(without_login(FIELD.sub("x", given))[0])
    except ValueError as error:
        return str(error)
    return wrong_credential(parse_qsl(urlsplit(given).query))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif not isinstance(value, bool | int | float):
        yield "${}"  # a date: it is refused as what is not known


def _words() -> list[str]:
    return sorted(set(BY_CORE.values()))


def missing_of(word: str, cores: Mapping[str, str]) -> Missing | None:
    """Return what becomes of an item without an answer; None: the word is not known. `cores`:
    states by status.
    """
    found = BY_CORE.get(cores.get(word, ""))
    if found is not None:
        return found
    for one in BY_CORE.values():
        if one == word:
            return one
    return None


def wrong_missing(cores: Mapping[str, str]) -> str:
    """Say what `on_missing` may be."""
    known = [*_words(), *(name for name, core in cores.items() if core in BY_CORE)]
    return f"it should be one of {', '.join(dict.fromkeys(known))}"


def _options(one: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in one.items() if field not in _OWN}


def names_of(one: Mapping[str, Any], root: str) -> set[str]:
    """Return what the texts of a look-up read of a root."""
    return {
        match[2]
        for text in _texts(_options(one))
        for match in FIELD.finditer(text)
        if match[1] == root
    }


def question_of(name: str, one: Mapping[str, Any], value_of: ValueOf) -> Question:
    """Return what is asked about an item. Raise `CannotFill`, and what `value_of` raises."""
    is_http = one["plugin"] == HTTP

    def fill(value: object, *, is_url: bool = False) -> object:
        if isinstance(value, str):
            keep = (lambda text, root: quote(text, safe=_SAFE[root])) if is_url else None
            return filled(value, value_of, keep)
        if isinstance(value, Mapping):
            return {field: fill(each) for field, each in value.items()}
        return [fill(each) for each in value] if isinstance(value, list) else value

    options = {
        field: fill(value, is_url=is_http and field == "url")
        for field, value in _options(one).items()
    }
    cache = duration_of(one.get("cache"))
    seconds = 0.0 if cache is None else cache.total_seconds()
    return Question(name, one["plugin"], json.dumps(options, sort_keys=True), seconds)
