"""Setups, their lifecycles, and the statuses of jobs: a word that is none would be waited for, or
walked to, for ever.

What sources and sinks of a setup may reach, said when it is applied. Whoever reads or sends
checks it again.

An address of a broker in a sink means the entry of `transports_file` that goes there, which has
the login. An address of a file that names a bucket, `s3://BUCKET/…`, means the tenant's store of
that bucket, as jobs reach buckets by stores alone.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from weft.api.calls.call import KEYED, DecodeBatch, call
from weft.api.calls.path_ids import BatchId, JobId, LifecycleName, SetupName
from weft.api.services import Services
from weft.api.use_cases.conditions import LINES_MAX
from weft.api.use_cases.secrets import sealed
from weft.core.access.rights import Permission, Right, require
from weft.core.addresses import parse_allowed_hosts
from weft.core.ends.conditions import parse_tester_commands
from weft.core.errors import FieldError, Invalid, LifecycleNotFound
from weft.core.files.file_stores import stored_at
from weft.core.lines.line import Setup, Source, Where
from weft.core.lines.series import rule_of
from weft.core.pools import Pool
from weft.core.states import JobState
from weft.core.text.texts import nearest, parse_paths
from weft.ports.evaluation import TooCostly, evaluate
from weft.ports.line_kinds import wrong_program
from weft.ports.lookup import LOOKUP_PLUGINS
from weft.ports.source import SOURCE_PLUGINS, SourceSite
from weft.ports.store import Caller, Origin, Row
from weft.ports.store.sources import TakenItem, TakenSource
from weft.settings import Settings
from weft.submission import submit
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.telemetry.trace import new_trace_id
from weft.wire.answers.lifecycles import JobStatus, Lifecycle
from weft.wire.answers.lines import Lines
from weft.wire.answers.setups import Setup as ShownSetup
from weft.wire.answers.setups import SetupRemoved
from weft.wire.documents.lifecycles import StatusDocument
from weft_lines.calls.item_decisions import job_of
from weft_lines.rules.configuration import LET
from weft_lines.rules.logins import (
    Login,
    logins_of,
    owned_by,
    still_told,
    value_of,
    without_logins,
)
from weft_lines.rules.pools import POOLS, differences
from weft_lines.rules.setup import (
    SETUP_BYTES_MAX,
    Problem,
    check_each_table,
    field_error,
    invalid_setup,
    parse_each_setup,
    refuse,
    tables_of,
)
from weft_lines.rules.sink import SINK_KINDS
from weft_lines.rules.source import SOURCE_KINDS
from weft_lines.rules.template import example_of

_ADDRESS: Final = re.compile(r"(amqp(s?))://([\w.-]+|\[[0-9a-f:]+\])(?::(\d{1,5}))?/?")
_PORTS: Final = {"": "5672", "s": "5671"}


class Broker(NamedTuple):
    """An entry: where it goes."""

    address: str
    virtual_host: str


def addresses_of(setup: Setup) -> Mapping[str, str]:
    """Return the addresses that stand where a transport should be named, by sink."""
    return {
        name: sink.options["transport"]
        for name, sink in setup.sinks.items()
        if "://" in sink.options.get("transport", "")
    }


def with_transports(setup: Setup, brokers: Mapping[str, Broker]) -> Setup:
    """Return a setup with transports named where only one goes. `brokers`: the entries by name."""
    sinks = {**setup.sinks}
    for sink, address in addresses_of(setup).items():
        found = [name for name, one in brokers.items() if _is_there(address, one)]
        if len(found) == 1:
            options = {**sinks[sink].options, "transport": found[0]}
            sinks[sink] = replace(
                sinks[sink], url=f"{sinks[sink].kind}:{found[0]}", options=options
            )
    return replace(setup, sinks=sinks)


def without_transport(setup: Setup) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield where an address still stands."""
    what = "not one entry of transports_file that has this tenant goes there, but none or several"
    for name in addresses_of(setup):
        yield ("sink", name, "url"), f"{what}: write transport = NAME"


def _is_there(address: str, broker: Broker) -> bool:
    scheme, _, rest = address.partition("://")
    server, _, host = rest.partition("/")
    wanted = _form(f"{scheme}://{server}")
    is_same = wanted is not None and wanted == _form(broker.address)
    return is_same and host in {"", quote(broker.virtual_host, safe="")}


def _form(address: str) -> tuple[str, ...] | None:
    match = _ADDRESS.fullmatch(address.lower())
    return None if match is None else (match[1], match[3], match[4] or _PORTS[match[2]])


_SCHEME: Final = "s3://"
_FILES: Final[Mapping[str, str]] = {"inputs": "from", "outputs": "to"}
"""Where the address of a file stands in the two fields."""


def names_buckets(setup: Setup) -> bool:
    """Say whether files of its jobs are addressed by buckets."""
    return any(True for job in setup.jobs.values() for _ in _in_buckets(job))


def with_stores(setup: Setup, stores: Mapping[str, str]) -> Setup:
    """Return a setup that names stores instead of their buckets, where there is one. `stores`:
    addresses by name.
    """
    names = {url: name for name, url in stores.items()}
    jobs = {}
    for name, job in setup.jobs.items():
        changed = {**job}
        for field, index, address in _in_buckets(job):
            files = [*changed[field]]
            files[index] = {**files[index], _FILES[field]: stored_at(address, names) or address}
            changed[field] = files
        jobs[name] = changed
    return replace(setup, jobs=jobs)


def without_store(setup: Setup) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield where files are in buckets that no store has, and what is to be done."""
    for name, job in setup.jobs.items():
        for field, index, address in _in_buckets(job):
            bucket = "/".join(address.split("/")[:3])
            what = (
                f"no store of the tenant is in {bucket}: `weft store add NAME {bucket}` makes one"
            )
            yield ("job", name, field, str(index)), what


def _in_buckets(job: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    for field, name in _FILES.items():
        files = job.get(field)
        for index, one in enumerate(files if isinstance(files, list) else ()):
            address = one.get(name) if isinstance(one, Mapping) else None
            if isinstance(address, str) and address.startswith(_SCHEME):
                yield field, index, address


def out_of_reach(settings: Settings, setup: Setup) -> Iterator[Problem]:
    """Yield what the settings of this api do not allow; empty: they allow that."""
    site = SourceSite(
        paths=parse_paths(settings.source_paths),
        allowed=parse_allowed_hosts(settings.source_private_hosts),
        commands=parse_tester_commands(settings.source_commands),
    )
    for name, source in setup.sources.items():
        if (kind := SOURCE_KINDS.get(source.kind)) is not None:
            for field, what in kind.reach(site, source.options).items():
                yield ("source", name, field), what
    site = SourceSite(
        allowed=parse_allowed_hosts(settings.callback_private_hosts),
        setting="callback_private_hosts",
        commands=parse_tester_commands(settings.sink_commands),
    )
    for name, sink in setup.sinks.items():
        for field, what in SINK_KINDS[sink.kind].reach(site, sink).items():
            yield ("sink", name, field), what
        for command in sink.checks.values():
            what = wrong_program(site, "sink_commands", command[0])
            yield ("sink", name, "checks"), what


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
    """Return the file as it is kept, what it says, and its secrets. Raise `InvalidSetup`."""
    if len(text) > SETUP_BYTES_MAX:
        raise invalid_setup([FieldError("", f"it has more than {SETUP_BYTES_MAX} characters")])
    setup = await _parsed(services, caller, text)
    await asyncio.to_thread(_check_plugins, setup, text)
    refuse(text, await asyncio.to_thread(list, out_of_reach(services.settings, setup)))
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
    left = (*logins_of("", again), *still_told(text, logins))
    problems: list[Problem] = [(where, told) for where in {one.where for one in left}]
    for one in logins:
        section, part, _ = one.where
        owner = setup.sources[part].owner if section == "source" else None
        if owner not in {None, caller.user_name}:
            said = f"only {owner} can keep its login, as a secret: write ${{secret.NAME}}"
            problems.append((one.where, said))
    refuse(text, problems)
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
    refuse(
        text,
        [
            (where, f"there is no {group.noun} {kind!r}; there are {', '.join(known[group])}")
            for where, group, kind in wanted
            if kind not in known[group]
        ],
    )


async def _check_lifecycles(services: Services, caller: Caller, setup: Setup, text: str) -> None:
    """Refuse sources whose lifecycle or statuses there are not. Raise `InvalidSetup`."""
    problems: dict[Where, str] = {}  # two sources may have one series or sink
    for name, source in setup.sources.items():
        statuses: Sequence[str] | None = None
        if source.lifecycle is not None and source.lifecycle in setup.lifecycles:
            statuses = setup.lifecycles[source.lifecycle].statuses
        elif source.lifecycle is not None:
            try:
                lifecycle = await services.store.get_lifecycle(caller, source.lifecycle)
            except LifecycleNotFound as error:
                problems["source", name, "lifecycle"] = error.message
                continue
            statuses = lifecycle["statuses"]
        problems.update(unknown_statuses(setup, source, statuses))
    refuse(text, problems.items())


async def _check_pools(services: Services, caller: Caller, setup: Setup, text: str) -> None:
    """Refuse pools and queues that are not as the setup wants them. Raise `InvalidSetup`."""
    problems: list[Problem] = []
    for name, wanted in setup.pools.items():
        rows = await services.store.list_pools(caller, name=name)
        if not rows or rows[0]["plan"] is None:
            what = "nobody has described this pool: `weft pool apply FILE` does"
            problems.append((("pool", name), what))
            continue
        pool = msgspec.convert(rows[0]["plan"], Pool)
        for where, what in differences(wanted, pool, services.settings.autoscale_s):
            problems.append((("pool", name, *where), what))
    if setup.queue_pools:
        queues = {
            row["name"]: row["pools"]
            for row in await services.store.list_queues(caller, with_counts=False)
        }
        for name, pools in setup.queue_pools.items():
            if queues.get(name) != pools:
                has = f"has {', '.join(queues[name])}" if name in queues else "is not there"
                what = f"the queue {has}: `weft queue apply FILE` changes it"
                problems.append((("queue", name, POOLS), what))
    refuse(text, problems)


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
    refuse(text, [*without_store(setup), *without_transport(setup)])
    return setup


async def _check_templates(
    services: Services, caller: Caller, setup: Setup, text: str, decode: DecodeBatch
) -> None:
    """Check each template as its jobs will be. Raise `InvalidSetup`."""
    problems: list[Problem] = []
    for name, job in setup.jobs.items():
        taken = TakenSource(
            source_id=0,
            name="source",
            lifecycle=None,
            billing_project="default",
            template={"job": job},
            taking=0,
            owner=caller,
        )
        example = job_of(taken, TakenItem(1, "key", {}, None, ""), example_of(job), {})
        try:
            lifecycle = next((s.lifecycle for s in setup.sources.values() if s.job == name), None)
            body = msgspec.json.encode({"jobs": [example], "lifecycle": lifecycle})
        except (TypeError, ValueError, OverflowError) as error:
            problems.append((("job", name), str(error)))
            continue
        origin = Origin(digest=hashlib.sha256(body).digest(), trace_id=new_trace_id())
        try:
            await submit.check_batch(services, caller, decode(body), origin)
        except Invalid as error:
            for one in error.errors or (FieldError("", error.message),):
                where = one.pointer.removeprefix("/jobs/0").split("/")[1:]
                problems.append((("job", name, *where), one.message))
    refuse(text, problems)


@call(f"DELETE {_SETUP}", Right.OPERATE, SetupRemoved, public=False, silent=True)
async def remove_setup(services: Services, caller: Caller, name: SetupName) -> Answer:
    """Forget the file of a production line. Its jobs go on."""
    await services.store.remove_setup(caller, name)
    log.info("setup.removed", setup=name, user=caller.user_name)
    return {"setup": name}


@call(
    "POST /v1/batches/{b}/jobs/{j}/status",
    Right.WRITE,
    JobStatus,
    permission=Permission.EXECUTE,
    public=False,
    marks=KEYED,
)
async def change_status(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, document: StatusDocument
) -> Row:
    """Set a job's status, if its lifecycle allows it; one that waits or has ended goes along."""
    return await services.store.change_status(
        caller, batch_id, job_id, status=document.status, message=document.message
    )


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
            "retry": sink.retry_path,
            "given_up": sink.given_up_path,
            "rejected": sink.rejected_path,
        }.items():
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
