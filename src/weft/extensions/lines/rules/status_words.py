"""Statuses that a setup names outside of its lifecycles: a word that is none would be waited for,
or walked to, for ever.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from weft.core.lines.line import Setup, Source
from weft.core.lines.series import rule_of
from weft.core.states import JobState
from weft.core.text.texts import nearest

_STATES = tuple(state.word for state in JobState)


def unknown_statuses(
    setup: Setup, source: Source, statuses: Sequence[str] | None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Return where the series and the sinks of a source name a status that its lifecycle does not
    have, and what to say. `statuses` None: it has no lifecycle.
    """
    series: dict[str, Any] = setup.configurations.get(source.job, {}).get("series") or {}
    rule, where = rule_of(series), ("configure", source.job, "series")
    if rule.until is not None and rule.until not in (statuses or ()):
        yield (*where, "until"), _said(rule.until, statuses)
    for word in series.get("skip", ()):
        if word not in (*_STATES, *(statuses or ())):
            yield (*where, "skip"), _said(word, statuses)
    for name in source.sinks if statuses is not None else ():
        sink = setup.sinks[name]
        told: set[str] = set()  # a path that is not given is made of the one before it
        for field, path in {
            "retry": sink.retry_path, "given_up": sink.given_up_path,
            "rejected": sink.rejected_path,
        }.items():  # fmt: skip
            for word in path:
                if word not in (*(statuses or ()), *told):
                    told.add(word)
                    yield ("sink", name, field, "path"), _said(word, statuses)


def _said(word: str, statuses: Sequence[str] | None) -> str:
    if statuses is None:
        return f'"{word}" is a status of a lifecycle, and the source names none'
    near = nearest(word, statuses)
    meant = f'; did you mean "{near}"?' if near else ""
    return f'the lifecycle has no status "{word}"{meant}'
