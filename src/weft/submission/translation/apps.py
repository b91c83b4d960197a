"""Jobs of applications: what stands beside `app`, and what becomes of it in specs."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from weft.core.apps.description import FoundApp
from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.settings import Settings
from weft.submission.translation.executors import APP
from weft.wire.documents.batches import JobDocument
from weft.wire.spec import AppSpec, JobSpec

NOT_BESIDE: Final = ("command", "script", "function", "simulation", "cwd", "values", "container")


def check_parameters(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note parameters of no application. Each is checked where the application is known."""
    if job.app is None:
        problems.add(InvalidValue, f"{at}/parameters", "only a job with an `app` has parameters")


def with_apps(
    specs: Sequence[JobSpec],
    jobs: Sequence[JobDocument],
    apps: Mapping[str, FoundApp],
    settings: Settings,
) -> list[JobSpec]:
    """Return the specs; those of applications name what their workers fetch."""
    found = []
    for spec, job in zip(specs, jobs, strict=True):
        if job.app is None:
            found.append(spec)
            continue
        app = apps[job.app]
        its = AppSpec(
            job.app, app.digest, app.description.wrapper, settings.app_unpacked_bytes_max
        )
        found.append(msgspec.structs.replace(spec, app=its, executor=APP))
    return found
