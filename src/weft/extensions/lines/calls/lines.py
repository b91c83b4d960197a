"""Setups, their lifecycles, and the statuses of jobs."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

import msgspec

from weft.api.calls.call import DecodeBatch, call
from weft.api.calls.path_ids import BatchId, JobId, LifecycleName, SetupName
from weft.api.services import Services
from weft.api.use_cases.failing_lines import LINES_MAX
from weft.api.use_cases.secrets import sealed
from weft.core.access.permissions import Permission
from weft.core.access.rights import Right, require
from weft.core.errors import FieldError, Invalid, LifecycleNotFound
from weft.core.lines.line import Setup
from weft.core.pools import Pool
from weft.extensions.lines.calls.item_decisions import job_of
from weft.extensions.lines.calls.line_reach import (
    Broker,
    addresses_of,
    names_buckets,
    out_of_reach,
    with_stores,
    with_transports,
    without_store,
    without_transport,
)
from weft.extensions.lines.rules.configuration import LET
from weft.extensions.lines.rules.logins import (
    Login,
    logins_of,
    owned_by,
    still_told,
    value_of,
    without_logins,
)
from weft.extensions.lines.rules.pools import POOLS, differences
from weft.extensions.lines.rules.setup import (
    check_each_table,
    field_error,
    invalid_setup,
    parse_each_setup,
    tables_of,
)
from weft.extensions.lines.rules.status_words import unknown_statuses
from weft.extensions.lines.rules.template import example_of
from weft.ports.evaluation import TooCostly, evaluate
from weft.ports.lookup import LOOKUP_PLUGINS
from weft.ports.source import SOURCE_PLUGINS
from weft.ports.store import Caller, Row
from weft.ports.store.sources import TakenItem, TakenSource
from weft.submission import submit
from weft.submission.services import Answer, Origin
from weft.telemetry.log import log
from weft.telemetry.trace import new_trace_id
from weft.wire.answers.lines import JobStatus, Lifecycle, Lines, SetupRemoved
from weft.wire.answers.lines import Setup as ShownSetup
from weft.wire.documents.lines import StatusDocument

_SETUP: Final = "/v1/setups/{setup}"


@call("GET /v1/lines", Right.READ, Lines, client="line_overview")
async def get_lines(services: Services, caller: Caller) -> Row:
    """Get how production lines are: sources with what they found last, sinks with what has not
    arrived, and how many jobs have each status.
    """
    return await services.store.overview_lines(caller, limit=LINES_MAX)


@call(f"GET {_SETUP}", Right.READ, ShownSetup, public=False)
async def get_setup(services: Services, caller: Caller, name: SetupName) -> Row:
    """Get the file of a production line, as it came."""
    return await services.store.get_setup(caller, name)


@call("GET /v1/lifecycles/{lifecycle}", Right.READ, Lifecycle, public=False)
async def get_lifecycle(services: Services, caller: Caller, name: LifecycleName) -> Row:
    """Get the lifecycle that new batches get by this name."""
    return await services.store.get_lifecycle(caller, name)


async def save_setup(
    services: Services, caller: Caller, name: str, text: str, decode: DecodeBatch
) -> Answer:
    """Check a setup and save it whole. Raise `InvalidSetup`, `LifecycleTaken`, `SourceTaken`."""
    text, setup, secrets = await checked_setup(services, caller, name, text, decode)
    changed = await services.store.save_setup(
        caller, name, text, setup, secrets, secrets_max=services.settings.secrets_per_user_max
    )
    log.info("setup.saved", setup=name, changed=list(changed), user=caller.user_name)
    return {"setup": name, "changed": list(changed)}


async def checked_setup(
    services: Services, caller: Caller, name: str, text: str, decode: DecodeBatch
) -> tuple[str, Setup, Mapping[str, bytes]]:
    """Return the file as it is kept, what it says, and the secrets that it has. Raise
    `InvalidSetup`.
    """
    setup = await _parsed(services, caller, text)
    await asyncio.to_thread(_check_plugins, setup, text)
    if problems := await asyncio.to_thread(out_of_reach, services.settings, setup, text):
        raise invalid_setup(problems)
    for source in setup.sources.values():
        if source.owner not in {None, caller.user_name}:  # it would run programs as another user
            require(Right.MANAGE, caller.user_name, caller.role, caller.scopes)
    await _check_lifecycles(services, caller, setup, text)
    await _check_pools(services, caller, setup, text)
    setup = await _with_names(services, caller, setup, text)
    await _check_templates(services, caller, setup, text, decode)
    logins = logins_of(name, setup)
    if logins:
        text, setup = await _without_logins(services, caller, text, setup, logins)
        setup = await _with_names(services, caller, setup, text)
    secrets = {one.secret: sealed(services, caller, one.secret, value_of(one)) for one in logins}
    return text, setup, secrets


async def _parsed(services: Services, caller: Caller, text: str) -> Setup:
    """Check a setup: its expressions, templates and schemas are tried. Raise `InvalidSetup`."""
    found = await evaluate(services.evaluation, caller.tenant_id, parse_each_setup, None, text)
    if not isinstance(found, TooCostly):
        return found
    why = f"to check its expressions, templates and schemas {found.why.removeprefix('it ')}"
    tables = tables_of(text)
    tried = await services.evaluation.each(caller.tenant_id, check_each_table, text, tables)
    costly = [
        field_error(text, table, f"to check it {one.why.removeprefix('it ')}")
        for table, one in zip(tables, tried, strict=True)
        if isinstance(one, TooCostly) and one.alone
    ]
    raise invalid_setup(costly or [FieldError("", why)])


async def _without_logins(
    services: Services, caller: Caller, text: str, setup: Setup, logins: Sequence[Login]
) -> tuple[str, Setup]:
    """Return the file with the names of secrets instead of logins. Raise `InvalidSetup`."""
    named = without_logins(text, logins)
    again = await _parsed(services, caller, named)
    told = "its login stands elsewhere, or in another form: write ${secret.NAME}"
    problems = [
        field_error(text, where, told)
        for where in {one.where for one in (*logins_of("", again), *still_told(text, logins))}
    ]
    for one in logins:
        section, part, _ = one.where
        owner = setup.sources[part].owner if section == "source" else None
        if owner not in {None, caller.user_name}:
            said = f"only {owner} can keep its login, as a secret: write ${{secret.NAME}}"
            problems.append(field_error(text, one.where, said))
    if problems:
        raise invalid_setup(problems)
    return named, owned_by(again, caller.user_name, logins)


def _check_plugins(setup: Setup, text: str) -> None:
    """Refuse what no installed package brings. Raise `InvalidSetup`."""
    wanted = [
        (("source", name, "kind"), SOURCE_PLUGINS, one.kind) for name, one in setup.sources.items()
    ] + [
        (("configure", name, LET, let, "plugin"), LOOKUP_PLUGINS, one["plugin"])
        for name, configuration in setup.configurations.items()
        for let, one in configuration.get(LET, {}).items()
    ]
    known = {group: group.names() for group in {group for _, group, _ in wanted}}
    problems = [
        field_error(
            text, where, f"there is no {group.noun} {kind!r}; there are {', '.join(known[group])}"
        )
        for where, group, kind in wanted
        if kind not in known[group]
    ]
    if problems:
        raise invalid_setup(problems)


async def _check_lifecycles(services: Services, caller: Caller, setup: Setup, text: str) -> None:
    """Refuse sources whose lifecycle there is not, and statuses that it does not have. Raise
    `InvalidSetup`.
    """
    problems: dict[tuple[str, ...], FieldError] = {}  # two sources may have one series or sink
    for name, source in setup.sources.items():
        statuses: Sequence[str] | None = None
        if source.lifecycle is not None and source.lifecycle in setup.lifecycles:
            statuses = setup.lifecycles[source.lifecycle].statuses
        elif source.lifecycle is not None:
            try:
                lifecycle = await services.store.get_lifecycle(caller, source.lifecycle)
            except LifecycleNotFound as error:
                problem = field_error(text, ("source", name, "lifecycle"), error.message)
                problems["source", name, "lifecycle"] = problem
                continue
            statuses = lifecycle["statuses"]
        for where, what in unknown_statuses(setup, source, statuses):
            problems[where] = field_error(text, where, what)
    if problems:
        raise invalid_setup(list(problems.values()))


async def _check_pools(services: Services, caller: Caller, setup: Setup, text: str) -> None:
    """Refuse pools and queues that are not as the setup wants them. Raise `InvalidSetup`."""
    problems = []
    for name, wanted in setup.pools.items():
        rows = await services.store.list_pools(caller, name=name)
        if not rows or rows[0]["plan"] is None:
            what = "nobody has described this pool: `weft pool apply FILE` does"
            problems.append(field_error(text, ("pool", name), what))
            continue
        pool = msgspec.convert(rows[0]["plan"], Pool)
        for where, what in differences(wanted, pool, services.settings.autoscale_s):
            problems.append(field_error(text, ("pool", name, *where), what))
    if setup.queue_pools:
        queues = {
            row["name"]: row["pools"]
            for row in await services.store.list_queues(caller, with_counts=False)
        }
        for name, pools in setup.queue_pools.items():
            if queues.get(name) != pools:
                has = f"has {', '.join(queues[name])}" if name in queues else "is not there"
                what = f"the queue {has}: `weft queue apply FILE` changes it"
                problems.append(field_error(text, ("queue", name, POOLS), what))
    if problems:
        raise invalid_setup(problems)


async def _with_names(services: Services, caller: Caller, setup: Setup, text: str) -> Setup:
    """Return a setup that names stores and transports, not their addresses. Raise `InvalidSetup`
    for other addresses.
    """
    if names_buckets(setup):
        rows = await services.store.list_stores(caller)
        setup = with_stores(setup, {row["name"]: row["url"] for row in rows})
    if addresses_of(setup):
        names = await services.transports_of(caller)
        brokers = {
            transport.name: Broker(transport.address, transport.virtual_host)
            for transport in services.transports
            if transport.name in names and transport.kind == "rabbitmq"
        }
        setup = with_transports(setup, brokers)
    found = [*without_store(setup), *without_transport(setup)]
    if problems := [field_error(text, where, what) for where, what in found]:
        raise invalid_setup(problems)
    return setup


async def _check_templates(
    services: Services, caller: Caller, setup: Setup, text: str, decode: DecodeBatch
) -> None:
    """Check each template as its jobs will be. Raise `InvalidSetup`."""
    problems: list[FieldError] = []
    for name, job in setup.jobs.items():
        taken = TakenSource(
            source_id=0, name="source", lifecycle=None, billing_project="default",
            template={"job": job}, taking=0, bunch=0, batch_id=None, batch_day=date.min,
            items=(), owner=caller,
        )  # fmt: skip
        example = job_of(taken, TakenItem(1, "key", {}, None, ""), example_of(job), {})
        try:
            lifecycle = next((s.lifecycle for s in setup.sources.values() if s.job == name), None)
            body = msgspec.json.encode({"jobs": [example], "lifecycle": lifecycle})
        except (TypeError, ValueError, OverflowError) as error:
            problems.append(field_error(text, ("job", name), str(error)))
            continue
        origin = Origin(digest=hashlib.sha256(body).digest(), trace_id=new_trace_id())
        try:
            await submit.check_batch(services, caller, decode(body), origin)
        except Invalid as error:
            said = error.errors or (FieldError("", error.message),)
            for one in said:
                where = one.pointer.removeprefix("/jobs/0").split("/")[1:]
                problems.append(field_error(text, ("job", name, *where), one.message))
    if problems:
        raise invalid_setup(problems)


@call(f"DELETE {_SETUP}", Right.OPERATE, SetupRemoved, public=False)
async def remove_setup(services: Services, caller: Caller, name: SetupName) -> Answer:
    """Forget the file of a production line. Its jobs go on."""
    await services.store.remove_setup(caller, name)
    log.info("setup.removed", setup=name, user=caller.user_name)
    return {"setup": name}


@call(
    "POST /v1/batches/{b}/jobs/{j}/status", Right.WRITE, JobStatus, permission=Permission.EXECUTE,
    public=False,
)  # fmt: skip
async def change_status(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, document: StatusDocument
) -> Row:
    """Set the status of a job, if its lifecycle allows it now; a job that waits or has ended goes
    along.
    """
    return await services.store.change_status(
        caller, batch_id, job_id, status=document.status, message=document.message
    )
