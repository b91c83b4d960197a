"""Sources of a setup, `[source.NAME]`: where items come from, and what becomes of them.

What all kinds have is checked here; a kind that a package brings checks its own options when it
is read.
"""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from weft.core.deliveries.sinks import sinks_of, wrong_sinks
from weft.core.lines.lifecycle import Say
from weft.core.lines.line import Source
from weft.core.text.durations import duration_of
from weft.ports.line_kinds import SourceKind, kinds_of, wrong_text
from weft_lines.rules.template import SINK

EVERY_LEAST: Final = timedelta(seconds=1)
EVERY_MOST: Final = timedelta(days=1)
_EVERY: Final = "5s"

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")
SOURCE_KINDS: Final = kinds_of(SourceKind, "sources")
_COMMON: Final = (
    "kind",
    "every",
    "owner",
    "billing_project",
    "lifecycle",
    "job",
    "sink",
    "target",
    "expected",
)
_EXPECTED_MOST: Final = 1_000_000_000


def _is_target(given: object) -> str:
    within = given.get("within") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or not (duration_of(within) or timedelta()):
        return 'it should be a table such as {within = "3h", from = "published"}'
    if unknown := given.keys() - {"within", "from"}:
        return f"it has no {min(unknown)}, but within and from"
    return f"from: {what}" if (what := wrong_text(given.get("from", "found"))) else ""


def _is_expected(given: object) -> str:
    if not isinstance(given, Mapping) or not given or given.keys() - {"least", "most"}:
        return "it should be a table such as {least = 400, most = 600}, of items a day"
    if not all(type(one) is int and 0 <= one <= _EXPECTED_MOST for one in given.values()):
        return f"its numbers should be from 0 to {_EXPECTED_MOST}"
    if given.get("least", 0) > given.get("most", _EXPECTED_MOST):
        return "least should not be more than most"
    return ""


def kind_first(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a table whose kind is called `kind`, also if it says `plugin`."""
    if "plugin" not in document or "kind" in document:
        return document
    return {"kind": document["plugin"], **{n: v for n, v in document.items() if n != "plugin"}}


def parse_source(document: Mapping[str, Any], say: Say) -> Source:
    """Check the table of one source; it counts if nothing was said about it."""

    def wrong(field: str, what: str) -> None:
        say((field,), what)

    document = kind_first(document)
    texts = {}
    for name in ("kind", "job", "owner", "billing_project", "lifecycle"):
        given = document.get(name)
        if given is None:
            if name in {"kind", "job"}:
                wrong(name, "a source needs it")
        elif what := wrong_text(given):
            wrong(name, what)
        else:
            texts[name] = given
    if what := wrong_sinks(document.get(SINK)):
        wrong(SINK, what)
    every = duration_of(document.get("every", _EVERY))
    if every is None or not EVERY_LEAST <= every <= EVERY_MOST:
        wrong("every", 'it should be a time from "1s" to "1d"')
    kind = texts.get("kind", "")
    if kind and not NAME.fullmatch(kind):
        wrong("kind", "it should be a word such as directory")
    aims = _aims(document, wrong)
    options = {name: value for name, value in document.items() if name not in _COMMON}
    _check_options(kind, options, wrong)
    return Source(
        kind,
        every or timedelta(),
        texts.get("owner"),
        texts.get("billing_project", "default"),
        texts.get("lifecycle"),
        texts.get("job", ""),
        options,
        sinks_of(document.get(SINK)),
        aims,
    )


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
    if (found := SOURCE_KINDS.get(kind)) is None:
        return
    known = found.options
    for name, value in options.items():
        if name not in known:
            wrong(
                name,
                f"a source of kind {kind} has no such field; it has "
                f"{', '.join((*_COMMON, *known))}",
            )
        elif not known[name].secret and "${secret." in str(value):
            wrong(
                name,
                "a secret may stand in `url`, `headers` and `query` of the kind http, and "
                "in `url` of the kind sql, only",
            )
        elif what := known[name].check(value):
            wrong(name, what)
    for name, option in known.items():
        if option.needed and name not in options:
            wrong(name, f"a source of kind {kind} needs it")
    for name, what in found.together(options).items():
        if what:
            wrong(name, what)
