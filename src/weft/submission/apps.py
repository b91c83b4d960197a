"""The applications that jobs run: found for their caller, and filled into their documents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from weft.core.access.rights import RIGHTS_OF, Right
from weft.core.apps.description import AppDescription, FoundApp
from weft.core.apps.values import Variable, variables_of, wrong_text
from weft.core.errors import InvalidValue, TooManyEvaluations
from weft.core.problems import Problems, pointer_of
from weft.ports.evaluation import TooCostly
from weft.ports.store import Caller
from weft.submission.execution_systems import WrongSystem, queue_on_system
from weft.submission.services import Draft, SubmissionServices
from weft.wire.documents.batches import JobDocument
from weft.wire.documents.foreign_jobs import ForeignJob

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
