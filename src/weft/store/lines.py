"""The part of `ApiStore` for setups, lifecycles and statuses."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from asyncpg import Connection

from weft.core.access.rights import Right
from weft.core.lines.exits_of_lifecycles import ExitRule
from weft.core.lines.lifecycle import PHASES, Lifecycle
from weft.core.lines.limits import Path
from weft.core.lines.line import PARAMETERS_MAX, Setup, Source, eaches_of
from weft.core.states import JobState
from weft.ports.store import Caller, Row
from weft.store.database import StorePart, call_on
from weft.store.declared import actor, calls, documents, nothing, user_id, value


class Lines(StorePart):
    """Setups of production lines, which belong to a tenant."""

    async def save_setup(
        self,
        caller: Caller,
        name: str,
        document: str,
        setup: Setup,
        secrets: Mapping[str, bytes] = MappingProxyType({}),
        *,
        secrets_max: int = 0,
    ) -> Sequence[str]:
        """Keep a setup, make its lifecycles those of new batches and its sources what they are
        from now on; return the names of those that are new or changed, `source NAME` of sources.
        Jobs keep theirs. `secrets`: values that are set with it. Raise `LifecycleTaken`,
        `SourceTaken`, `SinkTaken`, `TooManySecrets`: then nothing changed.
        """
        saved: Sequence[str] = await self._database.value(
            "save_setup", **_saving(caller, name, document, setup, secrets, secrets_max)
        )
        return saved

    async def try_setup(
        self,
        caller: Caller,
        name: str,
        document: str,
        setup: Setup,
        secrets: Mapping[str, bytes],
        secrets_max: int,
    ) -> tuple[Mapping[str, Row], Sequence[Row]]:
        """Do what `save_setup` does and undo it; return its sources meanwhile, by name and as
        `try_source` returns them, and all parameters. Raise what that raises.
        """

        async def look(connection: Connection) -> tuple[Mapping[str, Row], Sequence[Row]]:
            saving = _saving(caller, name, document, setup, secrets, secrets_max)
            await call_on(connection, "save_setup", **saving)
            sources = {}
            for one in setup.sources:
                ask = {"caller": caller, "of_name": one, "keys": ()}
                sources[one] = (await call_on(connection, "try_source", **ask))[0][0]
            parameters = await call_on(
                connection,
                "list_parameters",
                caller=caller,
                names=None,
                as_of=None,
                after="",
                limit_rows=PARAMETERS_MAX,
            )
            return sources, documents(parameters)

        return await self._database.trying(look, caller)

    @calls(value, name="of_name")
    async def get_setup(self, caller: Caller, name: str) -> Row:
        """Return `setup`, `document`, `saved_at`, `saved_by`, `lifecycles`. Raise
        `SetupNotFound`.
        """

    @calls(nothing, name="of_name")
    async def remove_setup(self, caller: Caller, name: str) -> None:
        """Forget a setup; jobs go on. Raise `SetupNotFound`."""

    @calls(value, limit="limit_rows")
    async def overview_lines(self, caller: Caller, *, limit: int, statuses: bool = True) -> Row:
        """Return how production lines are, as far as the caller sees them: `sources`, `sinks` and
        `statuses`, if they are asked for; of the first two at most `limit`.
        """

    @calls(value, name="of_name")
    async def get_lifecycle(self, caller: Caller, name: str) -> Row:
        """Return the lifecycle that new batches get by this name. Raise `LifecycleNotFound`."""

    @calls(documents, sink="of_name", limit="limit_rows")
    async def list_messages(
        self, caller: Caller, sink: str, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return messages of a sink, the oldest first. Raise `SinkNotFound`."""

    @calls(value, sink="of_name", delivery_id="of_delivery_id")
    async def redeliver_message(self, caller: Caller, sink: str, delivery_id: int) -> Row:
        """Send a message again at once, unless that is under way; return it. Raise
        `SinkNotFound`, `MessageNotFound`, `MessageDelivered`.
        """

    @calls(
        value,
        sink="of_name",
        delivery_id="of_delivery_id",
        decision=lambda dropped: "dropped" if dropped else "passed",
    )
    async def decide_message(
        self, caller: Caller, sink: str, delivery_id: int, *, dropped: bool
    ) -> Row:
        """Send a message that a check has stopped, or drop it; return it. Raise `SinkNotFound`,
        `MessageNotFound`, `MessageNotHeld`.
        """

    @calls(value, sink="of_name")
    async def settle_given_up(self, caller: Caller, sink: str, decision: str | None) -> int:
        """Send messages that were given up again, or drop them; None: only count them. Return how
        many. Raise `SinkNotFound`.
        """

    @calls(value, user_id=user_id, actor=actor)
    async def change_status(
        self, caller: Caller, batch_id: int, job_id: int, *, status: str, message: str | None
    ) -> Row:
        """Set the status of a job; return `batch_id`, `job_id`, `status`, `state`.

        Raise `JobNotFound`, `InvalidStatusTransition`, `UnknownStatus`, `NoLifecycle`; where its
        core would run again also what `retry_jobs` raises, and `StatusBusy`. Then nothing changed.
        """


def _saving(
    caller: Caller, name: str, document: str, setup: Setup, secrets: Mapping[str, bytes], most: int
) -> Mapping[str, Any]:
    """Return the arguments of `weft.save_setup`."""
    return {
        "caller": caller,
        "name": name,
        "document": document,
        "lifecycles": [_columns(key, lifecycle) for key, lifecycle in setup.lifecycles.items()],
        "parts": {
            "sources": [_source(setup, key) for key in setup.sources],
            "sinks": [
                {"name": key, "document": asdict(sink), "own": key in setup.own_sinks}
                for key, sink in setup.sinks.items()
            ],
            "parameters": [
                {"name": key, **asdict(parameter)} for key, parameter in setup.parameters.items()
            ],
            **_secrets(secrets, most),
        },
        "user_id": caller.user_id,
        "actor": actor(caller),
        "by_user": None if caller.may(Right.MANAGE) else caller.user_id,
    }


def _source(setup: Setup, name: str) -> Mapping[str, Any]:
    """Return a source as `weft._save_sources` takes it."""
    source = setup.sources[name]
    configuration = setup.configurations.get(source.job, {})
    return {
        "name": name,
        "owner": source.owner,
        "billing_project": source.billing_project,
        "lifecycle": source.lifecycle,
        "kind": source.kind,
        "options": {**source.options},
        "every_s": source.every.total_seconds(),
        "template": {
            "job": _job(setup, source),
            **({"sink": [*source.sinks]} if source.sinks else {}),
            "configure": {**configuration},
            "steered_by": [*setup.steered_by.get(source.job, ())],
            **source.aims,
        },
    }


def _job(setup: Setup, source: Source) -> Mapping[str, Any]:
    """Return the template of a source, whose jobs leave what their sinks send."""
    job = {**setup.jobs[source.job]}
    for each in eaches_of(setup, source):
        own = {"from": each, "optional": True, "announce": True}
        job["outputs"] = [*(job.get("outputs") or ()), own]
    return job


def _secrets(bodies: Mapping[str, bytes], most: int) -> dict[str, list[Row]]:
    rows: list[Row] = [
        {"name": name, "body": b64encode(body).decode(), "max": most}
        for name, body in bodies.items()
    ]
    return {"secrets": rows} if rows else {}


def _columns(name: str, lifecycle: Lifecycle) -> Mapping[str, Any]:
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
