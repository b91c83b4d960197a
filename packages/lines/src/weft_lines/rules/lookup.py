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
from urllib.parse import quote

from weft.core.deliveries.credentials import SECRET
from weft.core.text.durations import duration_of
from weft.core.text.filling import FIELD, ValueOf, filled, wrong_text
from weft.ports.line_kinds import LookUpKind, kinds_of
from weft.ports.lookup import Question

LETS_MAX: Final = 10
CACHE_MOST: Final = timedelta(days=1)
ROOTS: Final = ("item", "param")
_NAME: Final = re.compile(r"[a-z][A-Za-z0-9_]{0,62}")
_OWN: Final = ("plugin", "value", "cache", "on_missing")
_KINDS: Final = kinds_of(LookUpKind, "lookups")
_OPTIONS_MAX: Final = 50
_SAFE: Final[Mapping[str, str]] = {"item": "/", "param": ":/?&=%#@,+"}
"""Signs of a value that an address keeps: only operators set parameters."""
Wrong = Callable[[tuple[str, ...], str], None]
Missing = Literal["waiting", "refused", "cancelled"]
BY_CORE: Final[Mapping[str, Missing]] = {
    "blocked": "waiting",
    "failed": "refused",
    "error": "refused",
    "cancelled": "cancelled",
}
"""What becomes of an item whose job would be in this state (items are no jobs yet)."""
WAITING: Final[Missing] = "waiting"


def check_lets(given: object, wrong: Wrong, taken: frozenset[str]) -> frozenset[str]:
    """Check the table `let`, not its expressions; return the names. `taken`: names in use."""
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
            _check(one, partial(say_below, wrong, where))
    return frozenset(name for name, one in given.items() if isinstance(one, Mapping))


def say_below(say: Wrong, table: tuple[str, ...], where: tuple[str, ...], what: str) -> None:
    """Say what is wrong with a field of a table."""
    say((*table, *where), what)


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
    options, kind = _options(one), _KINDS.get(str(plugin))
    if len(options) > _OPTIONS_MAX:
        wrong((), f"it has more than {_OPTIONS_MAX} options")
    for field, value in options.items():
        if kind is not None and field not in kind.fields:
            known = ", ".join((*_OWN, *kind.fields))
            wrong((field,), f"a look-up by {plugin} has no such field; it has {known}")
        for text in _texts(value):
            is_url = kind is not None and field == kind.address
            if what := wrong_text(SECRET.sub("x", text), roots=ROOTS, is_address=is_url):
                wrong((field,), what)
    told = any(SECRET.search(text) for text in _texts(options))
    if kind is not None:
        for field, what in kind.check(options, told).items():
            if what:
                wrong((field,), what)
    elif told and names_of(one, "param"):
        wrong((), "it names a secret, so it reads no parameters: others set them")


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
    """Return the fate of an item without answer; None: unknown word. `cores`: states by status."""
    by_core = BY_CORE.get(cores.get(word, ""))
    return by_core or next((one for one in BY_CORE.values() if one == word), None)


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
    kind = _KINDS.get(one["plugin"])

    def fill(value: object, *, is_url: bool = False) -> object:
        if isinstance(value, str):
            keep = (lambda text, root: quote(text, safe=_SAFE[root])) if is_url else None
            return filled(value, value_of, keep)
        if isinstance(value, Mapping):
            return {field: fill(each) for field, each in value.items()}
        return [fill(each) for each in value] if isinstance(value, list) else value

    options = {
        field: fill(value, is_url=kind is not None and field == kind.address)
        for field, value in _options(one).items()
    }
    cache = duration_of(one.get("cache"))
    seconds = 0.0 if cache is None else cache.total_seconds()
    return Question(name, one["plugin"], json.dumps(options, sort_keys=True), seconds)
