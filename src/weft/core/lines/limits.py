"""How long a job may have a status, and what happens then: `[lifecycle.NAME.limits]`, `on_limit`,
`lost`.

An attempt that runs is watched by its phases (ADR 46); a status stands for those that bring it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from weft.core.lines.exits_of_lifecycles import Say
from weft.core.states import Phase
from weft.core.text.durations import duration_of

ROUNDS_MAX: Final = 1000
PATH_MAX: Final = 20
SUBTYPE_CHARS_MAX: Final = 64
LIMIT_MAX_S: Final = 366 * 86400.0
_ROUNDS: Final = 3
_SUBTYPE: Final = "time limit"
_LOST: Final = "lost"


@dataclass(frozen=True)
class Path:
    """What a job goes through. `after_s`: how long an attempt may be unknown."""

    statuses: tuple[str, ...] = ()
    subtype: str = _SUBTYPE
    rounds: int = _ROUNDS
    after_s: float | None = None


@dataclass(frozen=True)
class Limits:
    """The limits of a lifecycle. `statuses`: seconds, by number."""

    statuses: Mapping[int, float] = field(default_factory=dict)
    on_limit: Path = Path()
    lost: Path | None = None

    def document(self, phases: Mapping[int, int]) -> Mapping[str, Any] | None:
        """Return what SQL reads; `None`: there are no limits. `monitor` is as that of a queue."""
        if not self.statuses and self.lost is None:
            return None
        monitor: dict[str, Any] = {"action": "requeue", "rounds": self.on_limit.rounds}
        status = 0
        for phase in Phase:
            status = phases.get(phase, status)  # one without a status of its own is in the last
            if (limit_s := self.statuses.get(status)) is not None:
                monitor[f"{phase.word}_s"] = limit_s
        if self.lost is not None and self.lost.after_s is not None:
            monitor["silent_s"] = self.lost.after_s
        return {
            "monitor": monitor,
            "statuses": {str(number): limit for number, limit in self.statuses.items()},
            "on_limit": _path(self.on_limit),
            "lost": None if self.lost is None else _path(self.lost),
        }


def _path(path: Path) -> Mapping[str, Any]:
    return {"path": list(path.statuses), "subtype": path.subtype, "rounds": path.rounds}


def parse_limits(
    document: Mapping[str, Any], number_of: Callable[[object], int], words: Sequence[str], say: Say
) -> Limits:
    """Read the three fields. `number_of`: of a status, 0 if there is none."""
    return Limits(
        _statuses(document.get("limits", {}), number_of, say),
        _read(document.get("on_limit", {}), "on_limit", ("rounds",), number_of, words, say),
        _read(document["lost"], "lost", ("after",), number_of, words, say)
        if "lost" in document
        else None,
    )


def _statuses(given: object, number_of: Callable[[object], int], say: Say) -> Mapping[int, float]:
    if not isinstance(given, Mapping):
        say(("limits",), "it should be a table")
        return {}
    found = {}
    for word, value in given.items():
        limit_s, number = _seconds(value), number_of(word)
        if not number:
            say(("limits", word), "it is not one of its statuses")
        elif limit_s is None:
            say(("limits", word), 'it should be a time such as "30m"')
        else:
            found[number] = limit_s
    return found


def _read(
    given: object,
    name: str,
    own: tuple[str, ...],
    number_of: Callable[[object], int],
    words: Sequence[str],
    say: Say,
) -> Path:
    known = ("path", "subtype", *own)
    if not isinstance(given, Mapping) or not all(one in known for one in given):
        say((name,), f"it should be a table of {', '.join(known)}")
        return Path()
    path = given.get("path", [])
    numbers = [number_of(one) for one in path] if isinstance(path, list) else [0]
    if len(numbers) > PATH_MAX or not all(numbers):
        say((name,), f"its path should be a list of at most {PATH_MAX} of its statuses")
        numbers = []
    subtype = given.get("subtype", _LOST if name == "lost" else _SUBTYPE)
    if not isinstance(subtype, str) or not 0 < len(subtype) <= SUBTYPE_CHARS_MAX:
        say((name,), f"its subtype should be 1 to {SUBTYPE_CHARS_MAX} characters")
    rounds = given.get("rounds", _ROUNDS)
    if not isinstance(rounds, int) or isinstance(rounds, bool) or not 0 <= rounds <= ROUNDS_MAX:
        say((name,), f"its rounds should be a number from 0 to {ROUNDS_MAX}")
    after_s = _seconds(given["after"]) if "after" in given else None
    if "after" in given and after_s is None:
        say((name,), 'its after should be a time such as "5m"')
    return Path(tuple(words[number - 1] for number in numbers), str(subtype), rounds, after_s)


def _seconds(given: object) -> float | None:
    duration = duration_of(given)
    if duration is None or not 0 < duration.total_seconds() <= LIMIT_MAX_S:
        return None
    return duration.total_seconds()
