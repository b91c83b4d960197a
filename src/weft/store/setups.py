"""Setups of production lines, in the api's store."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from asyncpg import Connection

from weft.core.access.rights import Right
from weft.core.lines.line import PARAMETERS_MAX, Setup, Source, eaches_of
from weft.ports.store import Caller, Row
from weft.store.database import StorePart, call_on
from weft.store.declared import actor, calls, documents, nothing, value
from weft.store.lifecycles import lifecycle_columns


class Setups(StorePart):
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


def _saving(
    caller: Caller, name: str, document: str, setup: Setup, secrets: Mapping[str, bytes], most: int
) -> Mapping[str, Any]:
    """Return the arguments of `weft.save_setup`."""
    return {
        "caller": caller,
        "name": name,
        "document": document,
        "lifecycles": [
            lifecycle_columns(key, lifecycle) for key, lifecycle in setup.lifecycles.items()
        ],
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
