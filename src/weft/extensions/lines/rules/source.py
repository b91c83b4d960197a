"""Sources of a setup, `[source.NAME]`: where items come from, and what becomes of them.

What all kinds have is checked here, and the options of those that are built in; a kind that a
package brings checks its own when it is read.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from weft.core.deliveries.credentials import wrong_credential, wrong_headers, wrong_url
from weft.core.deliveries.sinks import sinks_of, wrong_sinks
from weft.core.lines.lifecycle import Say
from weft.core.lines.line import Source
from weft.core.schedules import WrongCron, WrongZone, check_cron, zone_of
from weft.core.text.durations import duration_of
from weft.extensions.lines.rules.sql import SQL, wrong_database_url, wrong_query, wrong_values
from weft.extensions.lines.rules.template import SINK
from weft.ports.source_reads import S3

EVERY_LEAST: Final = timedelta(seconds=1)
EVERY_MOST: Final = timedelta(days=1)
_EVERY: Final = "5s"
OPENSEARCH: Final = "opensearch"

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")
_COMMON: Final = ("kind", "every", "owner", "billing_project", "lifecycle", "job", "sink",
                         "target", "expected")  # fmt: skip
_CHARS_MAX: Final = 2000
_EXPECTED_MOST: Final = 1_000_000_000
_OVERLAP_MOST: Final = 10**15
_FIELDS_MAX: Final = 50


def _is_text(given: object) -> str:
    fine = isinstance(given, str) and 1 <= len(given) <= _CHARS_MAX and given.isprintable()
    return "" if fine else f"it should be a text of 1 to {_CHARS_MAX} printable characters"


def _is_flag(given: object) -> str:
    return "" if isinstance(given, bool) else "it should be true or false"


def _is_path(given: object) -> str:
    fine = not _is_text(given) and str(given).startswith("/")
    return "" if fine else "it should be an absolute path"


def _is_pattern(given: object) -> str:
    fine = not _is_text(given) and "/" not in str(given)
    return "" if fine else "it should be a pattern of file names such as *.json"


def _is_time(given: object) -> str:
    return "" if duration_of(given) is not None else 'it should be a time such as "30s"'


def _is_content(given: object) -> str:
    return "" if given in {"json", "none"} else 'it should be "json" or "none"'


def _is_begin(given: object) -> str:
    return "" if given in {"earliest", "latest"} else 'it should be "earliest" or "latest"'


def _is_query(given: object) -> str:
    if (
        isinstance(given, Mapping)
        and len(given) <= _FIELDS_MAX
        and all(isinstance(one, str | int | float) for one in given.values())
    ):
        return wrong_credential(given.items())
    return f"it should be a table of at most {_FIELDS_MAX} texts and numbers"


def _is_overlap(given: object) -> str:
    if isinstance(given, str):
        return _is_time(given)
    fine = type(given) is int and 0 <= given <= _OVERLAP_MOST
    said = f'a time such as "1h", or of numbers one from 0 to {_OVERLAP_MOST}'
    return "" if fine else f"it should be {said}"


def _is_cursor(given: object) -> str:
    if not isinstance(given, Mapping) or "field" not in given:
        return 'it should be a table such as {field = "published", first = "7d"}'
    for name, value in given.items():
        if name not in {"field", "parameter", "first", "overlap"}:
            return f"it has no {name}, but field, parameter, first, overlap"
        if what := _is_overlap(value) if name == "overlap" else _is_text(value):
            return f"{name}: {what}"
    return ""


def _is_column(given: object) -> str:
    if isinstance(given, Mapping) and "parameter" in given:
        return "the query names it as :cursor"
    return _is_cursor(given)


def _is_any(_: object) -> str:
    return ""  # it is checked with the values that it names


def _is_command(given: object) -> str:
    words = [given] if isinstance(given, str) else given
    if (
        isinstance(words, list)
        and 1 <= len(words) <= _FIELDS_MAX
        and all(isinstance(word, str) and len(word) <= _CHARS_MAX for word in words)
        and not any("\0" in word for word in words)
        and _NAME.fullmatch(words[0])
    ):
        return ""
    return (
        "it should be the name of a program of the setting source_commands, or a list of that and "
        "its arguments"
    )


def _is_cron(given: object) -> str:
    try:
        check_cron(str(given))
    except WrongCron as error:
        return str(error)
    return ""


def _is_zone(given: object) -> str:
    try:
        zone_of(str(given))
    except WrongZone as error:
        return str(error)
    return ""


def _is_target(given: object) -> str:
    within = given.get("within") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or not (duration_of(within) or timedelta()):
        return 'it should be a table such as {within = "3h", from = "published"}'
    if unknown := given.keys() - {"within", "from"}:
        return f"it has no {min(unknown)}, but within and from"
    return f"from: {what}" if (what := _is_text(given.get("from", "found"))) else ""


def _is_expected(given: object) -> str:
    if not isinstance(given, Mapping) or not given or given.keys() - {"least", "most"}:
        return "it should be a table such as {least = 400, most = 600}, of items a day"
    if not all(type(one) is int and 0 <= one <= _EXPECTED_MOST for one in given.values()):
        return f"its numbers should be from 0 to {_EXPECTED_MOST}"
    if given.get("least", 0) > given.get("most", _EXPECTED_MOST):
        return "least should not be more than most"
    return ""


@dataclass(frozen=True)
class _Option:
    """An option of a kind: says what is wrong with a value; empty: nothing."""

    check: Callable[[object], str]
    needed: bool = False


_CATALOGUE: Final[Mapping[str, _Option]] = {
    "url": _Option(wrong_url, needed=True),
    "query": _Option(_is_query),
    "headers": _Option(wrong_headers),
    "items": _Option(_is_text),
    "dedupe": _Option(_is_text),
    "cursor": _Option(_is_cursor),
}
OPTIONS: Final[Mapping[str, Mapping[str, _Option]]] = {
    "command": {"command": _Option(_is_command, needed=True)},
    "schedule": {"cron": _Option(_is_cron, needed=True), "time_zone": _Option(_is_zone)},
    "directory": {
        "path": _Option(_is_path, needed=True),
        "pattern": _Option(_is_pattern),
        "settle": _Option(_is_time),
        "content": _Option(_is_content),
    },
    "http": _CATALOGUE,
    OPENSEARCH: _CATALOGUE,
    S3: {
        "store": _Option(_is_text, needed=True),
        "prefix": _Option(_is_text),
        "pattern": _Option(_is_text),
        "versions": _Option(_is_flag),
        "overlap": _Option(_is_time),
    },
    "amqp": {
        "transport": _Option(_is_text, needed=True),
        "queue": _Option(_is_text, needed=True),
        "dedupe": _Option(_is_text),
    },
    "kafka": {
        "transport": _Option(_is_text, needed=True),
        "topic": _Option(_is_text, needed=True),
        "first": _Option(_is_begin),
        "dedupe": _Option(_is_text),
    },
    SQL: {
        "url": _Option(wrong_database_url, needed=True),
        "query": _Option(_is_any, needed=True),
        "values": _Option(wrong_values),
        "dedupe": _Option(_is_text),
        "cursor": _Option(_is_column),
    },
}
"""By kind. Those that are not here come with packages, and have any."""
_WITH_SECRETS: Final = (
    ("http", "url"), ("http", "headers"), ("http", "query"), (SQL, "url"),
    (OPENSEARCH, "url"), (OPENSEARCH, "headers"), (OPENSEARCH, "query"),
)  # fmt: skip
"""Everything else is seen as it is, in command lines, logs and answers."""


def kind_first(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a table whose kind is called `kind`, also if it says `plugin`."""
    if "plugin" not in document or "kind" in document:
        return document
    return {"kind": document["plugin"], **{n: v for n, v in document.items() if n != "plugin"}}


def parse_source(document: object, say: Say) -> Source | None:
    """Check the table of one source; return `None` if something was said about it."""
    said: list[str] = []

    def wrong(field: str, what: str) -> None:
        said.append(what)
        say((field,) if field else (), what)

    if not isinstance(document, Mapping):
        wrong("", "it should be a table")
        return None
    document = kind_first(document)
    texts = {}
    for name in ("kind", "job", "owner", "billing_project", "lifecycle"):
        given = document.get(name)
        if given is None:
            if name in {"kind", "job"}:
                wrong(name, "a source needs it")
        elif what := _is_text(given):
            wrong(name, what)
        else:
            texts[name] = given
    if what := wrong_sinks(document.get(SINK)):
        wrong(SINK, what)
    every = duration_of(document.get("every", _EVERY))
    if every is None or not EVERY_LEAST <= every <= EVERY_MOST:
        wrong("every", 'it should be a time from "1s" to "1d"')
    kind = texts.get("kind", "")
    if kind and not _NAME.fullmatch(kind):
        wrong("kind", "it should be a word such as directory")
    aims = _aims(document, wrong)
    options = {name: value for name, value in document.items() if name not in _COMMON}
    _check_options(kind, options, wrong)
    if said or every is None:
        return None
    return Source(
        kind, every, texts.get("owner"), texts.get("billing_project", "default"),
        texts.get("lifecycle"), texts["job"], options, sinks_of(document.get(SINK)), aims,
    )  # fmt: skip


def _aims(document: Mapping[str, Any], wrong: Callable[[str, str], None]) -> Mapping[str, Any]:
    found = {}
    for name, check in (("target", _is_target), ("expected", _is_expected)):
        if name not in document:
            continue
        if what := check(document[name]):
            wrong(name, what)
        else:
            found[name] = {**document[name]}
    if (within := duration_of(found.get("target", {}).pop("within", None))) is not None:
        found["target"]["within_s"] = within.total_seconds()
    return found


def _check_options(
    kind: str, options: Mapping[str, object], wrong: Callable[[str, str], None]
) -> None:
    known = OPTIONS.get(kind)
    if known is None:
        return
    for name, value in options.items():
        if name not in known:
            wrong(name, f"a source of kind {kind} has no such field; it has "
                  f"{', '.join((*_COMMON, *known))}")  # fmt: skip
        elif (kind, name) not in _WITH_SECRETS and "${secret." in str(value):
            wrong(name, "a secret may stand in `url`, `headers` and `query` of the kind http, and "
                  "in `url` of the kind sql, only")  # fmt: skip
        elif what := known[name].check(value):
            wrong(name, what)
    for name, one in known.items():
        if one.needed and name not in options:
            wrong(name, f"a source of kind {kind} needs it")
    if kind == SQL and (what := wrong_query(options)):
        wrong("query", what)
