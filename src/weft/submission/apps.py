"""The applications that jobs run: found for their caller, filled into their documents, and the
queues that their execution systems mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import msgspec

from weft.core.access.rights import RIGHTS_OF, Right
from weft.core.apps.description import LOCAL_SYSTEM, AppDescription, FoundApp
from weft.core.apps.values import Variable, variables_of, wrong_text
from weft.core.errors import InvalidValue, TooManyEvaluations
from weft.core.problems import Problems, pointer_of
from weft.core.queues import Queue
from weft.ports.evaluation import TooCostly
from weft.ports.store import Caller
from weft.submission.services import Draft, SubmissionServices
from weft.wire.documents.foreign_jobs import ForeignJob
from weft.wire.documents.jobs import JobDocument

_NAMED: Final = 500
"""Characters of the names that an error lists."""


class WrongSystem(ValueError):
    """An execution system on which the job cannot run, and why."""


async def queue_on_system(
    services: SubmissionServices, caller: Caller, app: AppDescription, asked: str | None
) -> str | None:
    """Return the queue of a job of an application; None: any. `asked`: what the job says itself.

    A system is a queue, a pool, or an engine that lends the workers of pools. Of queues that use
    a pool the job gets one that has it first, if there is one. Raise `WrongSystem`.
    """
    named = asked or app.queue
    if app.system in {None, LOCAL_SYSTEM}:
        return named
    queues = [one.queue for one in await services.queues.of(caller)]
    if any(queue.name == app.system for queue in queues):
        return named or app.system
    pools = {app.system} if any(app.system in queue.pools for queue in queues) else set()
    rows = [] if pools else await services.store.list_pools(caller)
    pools |= {row["pool"] for row in rows if app.system in {row["pool"], _engine_of(row)}}
    if not pools:
        known = {LOCAL_SYSTEM, *(queue.name for queue in queues), *(row["pool"] for row in rows)}
        listed = ", ".join(sorted(known))[:_NAMED]
        raise WrongSystem(
            f"its execution system {app.system!r} is no queue, pool or engine here; there are "
            f"{listed}"
        )
    if named is None:
        taking = [
            one for one in queues if one.state == "enabled" and one.may_use(caller.user_name)
        ]
        return _best(app.system, taking, pools)
    for queue in queues:
        if queue.name == named and not pools.intersection(queue.pools):
            raise WrongSystem(
                f"its execution system {app.system!r} has no queue {named!r}: that uses "
                f"{', '.join(queue.pools)[:_NAMED]}"
            )
    return named


def _engine_of(row: Mapping[str, object]) -> object:
    plan = row["plan"]
    return plan.get("provider") if isinstance(plan, Mapping) else None


def _best(system: str | None, queues: Sequence[Queue], pools: set[str]) -> str:
    usable = [queue for queue in queues if pools.intersection(queue.pools)]
    if not usable:
        raise WrongSystem(f"no queue that you may use has its execution system {system!r}")
    return min(usable, key=lambda queue: queue.pools[0] not in pools).name


_Queues = dict[tuple[str, str | None], "str | WrongSystem | None"]


async def fill_app_fields(draft: Draft) -> None:
    """Give jobs what their applications bring: variables, and what they ask for if they say
    nothing of it. Raise what is wrong.
    """
    services, caller, rare, problems = draft.services, draft.caller, draft.rare, draft.problems
    names = {job.app for job in rare if job.app is not None}
    if not names:
        return
    foreign = [job for job in rare if isinstance(job, ForeignJob)]
    apps = {str(job.app): job.found_app for job in foreign if job.found_app}
    queues: _Queues = {}
    if not apps:
        apps = await find_apps(services, caller, sorted(names))
        queues = await _queues_of(services, caller, rare, apps)
    asked = [_asked_of(job) for job in rare if job.app in apps]
    described = {name: app.description for name, app in apps.items()}
    checked = await services.evaluation.each(caller.tenant_id, values_of_each, described, asked)
    for one in checked:
        if isinstance(one, TooCostly):
            raise TooManyEvaluations(
                f"the parameters of {', '.join(names)[:200]} take too long to be checked",
                detail=f"They are checked for {len(asked)} jobs: {one.why}.",
            )
    draft.jobs = _all_filled(rare, apps, queues, cast("list[_Checked]", checked), problems)
    problems.raise_any()
    draft.learn(apps=apps)


class _Asked(NamedTuple):
    """What a job says to the patterns of its application."""

    app: str
    parameters: Mapping[str, Any]
    given: Mapping[str, str]
    """The inputs that a door has looked at."""
    named: Mapping[str, str]
    """The sources of the other ones."""


class _Checked(NamedTuple):
    """What an application says to a job."""

    variables: list[Variable]
    wrong_inputs: list[str]


def _asked_of(job: JobDocument) -> _Asked:
    given = (job.app_inputs or {}) if isinstance(job, ForeignJob) else {}
    named = {one.env: one.from_ for one in job.inputs or () if one.env is not None}
    return _Asked(job.app or "", job.parameters or {}, given, named)


def values_of_each(apps: Mapping[str, AppDescription], asked: _Asked) -> _Checked:
    """Compare what a job says with the patterns of its application (`Evaluates.each`)."""
    app = apps[asked.app]
    return _Checked(
        [*variables_of(app.parameters, asked.parameters)],
        [*_wrong_inputs(asked.named, app, asked.given)],
    )


async def _queues_of(
    services: SubmissionServices,
    caller: Caller,
    jobs: Sequence[JobDocument],
    apps: Mapping[str, FoundApp],
) -> "_Queues":
    """Return the queue of each application by the queue that jobs name, or why there is none."""
    found: _Queues = {}
    named = {(job.app, job.queue) for job in jobs if job.app is not None and job.app in apps}
    for name, asked in named:
        try:
            described = apps[name].description
            found[name, asked] = await queue_on_system(services, caller, described, asked)
        except WrongSystem as error:
            found[name, asked] = error
    return found


def _all_filled(
    jobs: Sequence[JobDocument],
    apps: Mapping[str, FoundApp],
    queues: "_Queues",
    checked: Sequence[_Checked],
    problems: Problems,
) -> list[JobDocument]:
    """Return the jobs with what applications bring. `checked`: of those whose one is known."""
    filled, each_checked = [], iter(checked)
    for index, job in enumerate(jobs):
        if job.app is None:
            filled.append(job)
        elif job.app not in apps:
            message = f"there is no application {job.app!r} that you may run"
            problems.add(InvalidValue, f"/jobs/{index}/app", message)
            filled.append(job)
        else:
            queue = queues.get((job.app, job.queue), job.queue)
            if isinstance(queue, WrongSystem):
                problems.add(InvalidValue, f"/jobs/{index}/app", str(queue))
                queue = None
            described, at = apps[job.app].description, f"/jobs/{index}"
            job = msgspec.structs.replace(job, queue=queue)  # noqa: PLW2901 (from now on)
            filled.append(_filled(job, described, next(each_checked), problems, at))
    return filled


def sees_all(caller: Caller) -> bool:
    """Say whether somebody who adds and removes applications asks: they see those of others."""
    return Right.OPERATE in RIGHTS_OF[caller.role]


async def find_apps(
    services: SubmissionServices, caller: Caller, names: Sequence[str]
) -> dict[str, FoundApp]:
    """Return the applications that the caller may run, by name."""
    return {
        row["name"]: FoundApp(
            row["revision_id"],
            row["digest"].hex(),
            msgspec.convert(row["description"], AppDescription),
        )
        for row in await services.store.find_apps(caller, names)
    }


def _filled(
    job: JobDocument, app: AppDescription, checked: _Checked, problems: Problems, at: str
) -> JobDocument:
    given = (job.app_inputs or {}) if isinstance(job, ForeignJob) else {}
    variables: dict[str, str] = {one.id: given.get(one.id, "") for one in app.inputs}
    for name, text, wrong in checked.variables:
        if wrong:
            problems.add(InvalidValue, f"{at}/parameters{pointer_of(name)}", wrong)
        else:
            variables[name] = text
    for name in variables.keys() & (job.env or {}).keys():
        message = "it is a parameter of the application"
        problems.add(InvalidValue, f"{at}/env{pointer_of(name)}", message)
    for why in checked.wrong_inputs:
        problems.add(InvalidValue, f"{at}/app", why)
    return msgspec.structs.replace(
        job,
        env={**(job.env or {}), **variables},
        resources=_resources(job, app),
        timeout_s=app.timeout_s if job.timeout_s is None else job.timeout_s,
    )


def _wrong_inputs(
    named: Mapping[str, str], app: AppDescription, given: Mapping[str, str]
) -> Iterator[str]:
    """Yield what is wrong with the inputs of a job. `given`: those that a door has looked at."""
    for parameter in app.inputs:
        if parameter.id in given:
            continue
        if parameter.id not in named:
            if parameter.required and parameter.visible:
                yield f"it needs the input {parameter.id}: one of `inputs` with this as its `env`"
        elif not parameter.visible:
            yield f"it does not let its input {parameter.id} be set"
        elif why := wrong_text(parameter, named[parameter.id]):
            yield f"its input {parameter.id}: {why}"


def _resources(job: JobDocument, app: AppDescription) -> Any:  # noqa: ANN401 (JSON)
    """Return what the job asks for, and of the rest what its application does."""
    usual: dict[str, Any] = {}
    if (cores := app.nodes * app.processors) > 1:
        usual["cpu"] = cores
    if app.memory is not None:
        usual["memory"] = app.memory * app.nodes
    if not usual or not isinstance(job.resources or {}, Mapping):
        return job.resources  # what is no mapping is refused where all are checked
    return {**usual, **(job.resources or {})}
