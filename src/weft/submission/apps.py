"""The applications that jobs run: found for their caller, and filled into their documents."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from weft.core.apps.description import AppDescription
from weft.core.apps.values import WrongValue, variables_of
from weft.core.errors import InvalidValue
from weft.core.problems import Problems, pointer_of
from weft.ports.store import Caller
from weft.submission.services import SubmissionServices
from weft.submission.translation.apps import FoundApp
from weft.submission.translation.executors import APP
from weft.wire.documents.batches import JobDocument
from weft.wire.documents.foreign_jobs import ForeignJob


async def with_app_fields(
    services: SubmissionServices,
    caller: Caller,
    jobs: Sequence[JobDocument],
    rare: Sequence[JobDocument],
    problems: Problems,
) -> tuple[Sequence[JobDocument], Mapping[str, FoundApp]]:
    """Return the jobs with what their applications bring: variables, and what they ask for if
    they say nothing of it; and the applications by name. Note what is wrong. `rare`: those that
    may have one.
    """
    names = {job.app for job in rare if job.app is not None}
    for index, job in enumerate(rare):
        if job.executor == APP and job.app is None:
            message = f"a job of the executor `{APP}` needs an `app`"
            problems.add(InvalidValue, f"/jobs/{index}/app", message)
    if not names:
        return jobs, {}
    apps = await find_apps(services, caller, sorted(names))
    # In a thread: each value is compared with a pattern, which takes milliseconds.
    filled = await asyncio.to_thread(_all_filled, rare, apps, problems)
    problems.raise_any()
    return filled, apps


def _all_filled(
    jobs: Sequence[JobDocument], apps: Mapping[str, FoundApp], problems: Problems
) -> list[JobDocument]:
    filled = []
    for index, job in enumerate(jobs):
        if job.app is None:
            filled.append(job)
        elif job.app not in apps:
            message = f"there is no application {job.app!r} that you may run"
            problems.add(InvalidValue, f"/jobs/{index}/app", message)
            filled.append(job)
        else:
            filled.append(_filled(job, apps[job.app].description, problems, f"/jobs/{index}"))
    return filled


async def find_apps(
    services: SubmissionServices, caller: Caller, names: Sequence[str]
) -> Mapping[str, FoundApp]:
    """Return the applications that the caller may run, by name."""
    return {
        row["name"]: FoundApp(
            row["revision_id"],
            row["digest"].hex(),
            msgspec.convert(row["description"], AppDescription),
        )
        for row in await services.store.find_apps(caller, names)
    }


def _filled(job: JobDocument, app: AppDescription, problems: Problems, at: str) -> JobDocument:
    given = (job.app_inputs or {}) if isinstance(job, ForeignJob) else {}
    variables: dict[str, str] = {one.id: given.get(one.id, "") for one in app.inputs}
    for name, text in variables_of(app.parameters, job.parameters or {}):
        if isinstance(text, WrongValue):
            problems.add(InvalidValue, f"{at}/parameters{pointer_of(name)}", str(text))
        else:
            variables[name] = text
    for name in variables.keys() & (job.env or {}).keys():
        message = "it is a parameter of the application"
        problems.add(InvalidValue, f"{at}/env{pointer_of(name)}", message)
    named = {*given, *(one.env for one in job.inputs or ())}
    missing = [
        one.id for one in app.inputs if one.required and one.visible and one.id not in named
    ]
    if missing:
        message = f"it needs the input {missing[0]}: one of `inputs` with this as its `env`"
        problems.add(InvalidValue, f"{at}/app", message)
    return msgspec.structs.replace(
        job,
        env={**(job.env or {}), **variables},
        resources=_resources(job, app),
        timeout_s=app.timeout_s if job.timeout_s is None else job.timeout_s,
        queue=app.queue if job.queue is None else job.queue,
    )


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
