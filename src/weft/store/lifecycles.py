"""Lifecycles and the statuses of jobs, in the api's store."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.core.lines.exits_of_lifecycles import ExitRule
from weft.core.lines.lifecycle import PHASES, Lifecycle
from weft.core.lines.limits import Path
from weft.core.states import JobState
from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import actor, calls, user_id, value


class Lifecycles(StorePart):
    """Lifecycles by name, and the statuses that jobs have by theirs."""

    @calls(value, name="of_name")
    async def get_lifecycle(self, caller: Caller, name: str) -> Row:
        """Return the lifecycle that new batches get by this name. Raise `LifecycleNotFound`."""

    @calls(value, user_id=user_id, actor=actor)
    async def change_status(
        self, caller: Caller, batch_id: int, job_id: int, *, status: str, message: str | None
    ) -> Row:
        """Set the status of a job; return `batch_id`, `job_id`, `status`, `state`.

        Raise `JobNotFound`, `InvalidStatusTransition`, `UnknownStatus`, `NoLifecycle`; where its
        core would run again also what `retry_jobs` raises, and `StatusBusy`. Then nothing changed.
        """


def lifecycle_columns(name: str, lifecycle: Lifecycle) -> Mapping[str, Any]:
    """Return a lifecycle as `weft.save_setup` takes it."""
    return {
        "name": name,
        "statuses": lifecycle.statuses,
        "document": _document(lifecycle),
        "limits": lifecycle.limits.document(lifecycle.phases),
        "edges": [(start, to) for start, ends in lifecycle.next.items() for to in sorted(ends)],
        "cores": [
            (state, number)
            for number, states in enumerate(lifecycle.cores, 1)
            for state in sorted(map(int, states))
        ],
        "moves": [
            (move.state, move.phase, start, way)
            for move in lifecycle.moves()
            for start, way in enumerate(move.ways)
        ],
        "exits": [
            (rule.first, rule.last, rule.status or None, rule.subtype, rule.tries, rule.products)
            for rule in lifecycle.exits
        ],
    }


def _document(lifecycle: Lifecycle) -> Mapping[str, Any]:
    """Return a lifecycle in words, as it is shown."""
    words = lifecycle.statuses

    def named(numbers: frozenset[int]) -> list[str]:
        return [words[number - 1] for number in sorted(numbers)]

    limits = lifecycle.limits
    more: dict[str, Any] = {}
    if limits.statuses:
        more["limits"] = {words[n - 1]: f"{s:g}s" for n, s in sorted(limits.statuses.items())}
        more["on_limit"] = _path(limits.on_limit, rounds=limits.on_limit.rounds)
    if limits.lost is not None:
        after = limits.lost.after_s
        more["lost"] = _path(limits.lost, **({} if after is None else {"after": f"{after:g}s"}))
    return {
        "statuses": list(words),
        "first": named(lifecycle.next[0]),
        "next": {word: named(lifecycle.next[number]) for number, word in enumerate(words, 1)},
        "core": {
            word: [state.word for state in JobState if state in lifecycle.cores[number]]
            for number, word in enumerate(words)
            if lifecycle.cores[number]
        },
        "phase": {
            word: words[lifecycle.phases[phase] - 1]
            for word, phase in PHASES.items()
            if phase in lifecycle.phases
        },
        "exit": [_exit(rule, words) for rule in lifecycle.exits],
        **more,
    }


def _path(path: Path, **more: object) -> Mapping[str, Any]:
    return {"path": list(path.statuses), "subtype": path.subtype, **more}


def _exit(rule: ExitRule, words: Sequence[str]) -> Mapping[str, Any]:
    codes = str(rule.first) if rule.first == rule.last else f"{rule.first}-{rule.last}"
    found: dict[str, Any] = {"codes": codes, "tries": rule.tries, "products": rule.products}
    if rule.status:
        found["status"] = words[rule.status - 1]
    return found if rule.subtype is None else {**found, "subtype": rule.subtype}
