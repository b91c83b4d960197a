"""Jobs that are no ordinary commands: services, which are started again whenever they end (ADR
143); waits for a person, an event or a date; simulations; and applications. What stands beside
them, checks, and what becomes of their specs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from weft.core.apps.description import FoundApp
from weft.core.ends.retry_policy import WAIT_MAX_S
from weft.core.errors import InvalidValue, NulCharacter
from weft.core.graph.parents import Loose, Parent, Parents, numbers_of
from weft.core.graph.positions import Positions
from weft.core.problems import Problems
from weft.core.states import Reason
from weft.settings import Settings
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.places import APP, SIMULATION, USUAL
from weft.wire.documents.jobs import JobDocument
from weft.wire.documents.services import HealthDocument
from weft.wire.documents.simulations import SimulationDocument, SimulationStep
from weft.wire.spec import AppSpec, JobSpec

STARTS_MAX: Final = 32_000
"""Attempts have numbers of 16 bits."""
_WAIT_MIN_S: Final = 1.0
_TIME_S: Final = (0.1, 86_400.0)
_FAILURES_MAX: Final = 1000
SERVICE_NOT_BESIDE: Final = (
    "function",
    "simulation",
    "container",
    "engine",
    "app",
    "count",
    "values",
    "outputs",
    "retry",
    "retry_on",
    "external_errors",
    "exit_codes",
    "retry_with",
    "deadline",
)
_NEVER_AGAIN: Final = {
    Reason.PREEMPTED,
    Reason.CANCELLED,
    Reason.DEADLINE,
    Reason.BLOCKED,
    Reason.OVERDUE,
}
AGAIN: Final = sum(1 << reason for reason in Reason if reason not in _NEVER_AGAIN)
"""The reasons after which a service is started again, as bits; losses have no limit of their own.
"""


def check_service(job: JobDocument, settings: Settings, problems: Problems, at: str) -> None:
    """Note what is wrong with a service."""
    service = job.service
    assert service is not None
    if not job.name:
        problems.add(InvalidValue, f"{at}/service", "a service needs a `name`")
    if not job.command and not job.script:
        problems.add(InvalidValue, f"{at}/service", "a service needs a `command` or `script`")
    if job.script and job.script.startswith("#!"):
        message = "a script of a service is run by sh: name its program in `command`"
        problems.add(InvalidValue, f"{at}/script", message)
    if job.executor not in {None, USUAL}:
        problems.add(InvalidValue, f"{at}/executor", "a service is a process of a worker's host")
    if job.max_attempts != 1:
        message = "not allowed in a service, which has as many as it needs"
        problems.add(InvalidValue, f"{at}/max_attempts", message)
    if not _WAIT_MIN_S <= service.first_s <= service.longest_s <= WAIT_MAX_S:
        message = f"it should be from {_WAIT_MIN_S:g} to longest_s, which is at most a year"
        problems.add(InvalidValue, f"{at}/service/first_s", message)
    if service.health is not None:
        for field, message in _wrong_health(service.health, settings.argv_bytes_max):
            problems.add(InvalidValue, f"{at}/service/health{field}", message)


def _wrong_health(health: HealthDocument, bytes_max: int) -> Iterator[tuple[str, str]]:
    if bool(health.command) is (health.http is not None):
        yield "", "it has one of `command` and `http`"
    texts = "".join((*(health.command or ()), health.http or ""))
    if "\0" in texts:
        yield "", "a text cannot contain NUL"
    if len(texts.encode()) > bytes_max:
        yield "", f"its texts have more than {bytes_max} bytes (argv_bytes_max)"
    if health.http is not None:
        try:
            parts = urlsplit(health.http)
            is_good = parts.scheme in {"http", "https"} and bool(parts.hostname)
        except ValueError:
            is_good = False
        if not is_good:
            yield "/http", "it should be an address such as http://127.0.0.1:8080/ready"
    least, most = _TIME_S
    for name in ("every_s", "timeout_s"):
        if not least <= getattr(health, name) <= most:
            yield f"/{name}", f"it should be from {least:g} to {most:g}"
    if not 1 <= health.failures <= _FAILURES_MAX:
        yield "/failures", f"it should be from 1 to {_FAILURES_MAX}"


def check_services(
    jobs: Sequence[JobDocument], problems: Problems, *, has_lifecycle: bool
) -> None:
    """Note names that two services of a document have, and statuses beside them."""
    seen: set[str] = set()
    for index, job in enumerate(jobs):
        if job.service is None:
            continue
        if has_lifecycle:
            message = "not in a batch with a lifecycle, which says itself what follows an end"
            problems.add(InvalidValue, f"/jobs/{index}/service", message)
        if job.name in seen:
            message = "two services of a document have this name"
            problems.add(InvalidValue, f"/jobs/{index}/name", message)
        seen.add(job.name or "")


def check_children(
    jobs: Sequence[JobDocument],
    parents: Sequence[Parents],
    loose: Loose,
    positions: Positions,
    problems: Problems,
) -> None:
    """Note jobs that would wait for the end of a service."""
    services = {
        positions.of(index).start for index, job in enumerate(jobs) if job.service is not None
    }
    on_start = loose.get("start")
    for index, given in enumerate(parents if services else ()):
        begun = numbers_of(on_start[index]) if on_start else ()
        if not services.difference(begun).isdisjoint(numbers_of(given)):
            message = "it would wait for a service, which does not end"
            problems.add(InvalidValue, f"/jobs/{index}/parents", message)


def kept_of_service(job: JobDocument) -> Mapping[str, Any]:
    """Return what is kept: every exit code but 0 is told as an external error, after which it
    waits and is tried again, and no wait is the last one. What was before a long run is forgotten.
    """
    service = job.service
    assert service is not None
    waits = [service.first_s]
    while waits[-1] < service.longest_s:
        waits.append(min(2 * waits[-1], service.longest_s))
    steps = [{"tries": 1, "wait_s": wait} for wait in waits[:-1]]
    steps.append({"tries": STARTS_MAX, "wait_s": waits[-1]})
    return {
        "service": msgspec.to_builtins(service),
        "retry": {
            "policy": "stepwise",
            "jitter": 0,
            "steps": steps,
            "give_up_s": None,
            "forgets_s": service.longest_s,
        },
        "end_rules": {"external": [[1, 255]]},
    }


FORM_BYTES_MAX: Final = 65_536
_NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""In JSON, where a backslash that is text is two."""
WAIT_NOT_BESIDE: Final = (
    "command",
    "script",
    "function",
    "simulation",
    "container",
    "engine",
    "app",
    "count",
    "values",
    "inputs",
    "outputs",
    "secrets",
    "service",
    "deadline",
    "not_before",
    "machine",
    "retry",
    "retry_on",
    "retry_with",
    "timeout_s",
    "concurrency_key",
    "rate",
)


def wrong_text(form: object) -> str:
    """Return why a form cannot be kept, whatever it asks for; empty: it can."""
    text = b"" if form is None else msgspec.json.encode(form)
    if len(text) > FORM_BYTES_MAX:
        return f"it has more than {FORM_BYTES_MAX} bytes"
    return "it cannot contain NUL" if _NUL.search(text) else ""


def check_wait(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note what does not fit together in a wait."""
    wait = job.wait
    assert wait is not None
    if (wait.for_ == "date") is (wait.until is None):
        problems.add(InvalidValue, f"{at}/wait/until", "for `date`, and only there")
    if wait.for_ == "date" and (wait.form is not None or wait.timeout_s is not None):
        problems.add(InvalidValue, f"{at}/wait", "nobody answers a `date`: leave out the rest")
    if wait.on_timeout == "succeed" and wait.timeout_s is None:
        problems.add(InvalidValue, f"{at}/wait/timeout_s", "it is missing: `on_timeout` needs it")
    if message := wrong_text(wait.form):
        problems.add(InvalidValue, f"{at}/wait/form", message)


def kept_of_wait(job: JobDocument) -> Mapping[str, Any]:
    """Return what is kept, as it was sent."""
    return {"wait": msgspec.to_builtins(job.wait)}


def children_of_answers(
    jobs: Sequence[JobDocument],
    parents: Sequence[Parents],
    positions: Positions,
    context: DocumentContext,
) -> Sequence[int]:
    """Return the entries of which a parent may be answered: a wait of this document, or a job of
    another request, of which nothing is known here.
    """
    waits = {
        positions.firsts[entry]
        for entry, job in enumerate(context.rare(jobs) if parents else ())
        if job.wait is not None and job.wait.for_ != "date"
    }

    def may_be_answered(parent: Parent) -> bool:
        if isinstance(parent, int):
            return parent < positions.first or parent in waits
        return parent.start < positions.first or not waits.isdisjoint(parent)

    if not waits and context.batch_id is None:
        return ()
    return [entry for entry, own in enumerate(parents) if any(map(may_be_answered, own))]


SIMULATION_NOT_BESIDE: Final = (
    "command",
    "script",
    "function",
    "env",
    "cwd",
    "stdin",
    "umask",
    "resources",
    "machine",
    "secrets",
    "network",
    "retry_with",
    "values",
    "container",
    "engine",
    "inputs",
    "outputs",
)
_MS: Final = 1000
_WAITS: Final = frozenset({"duration_ms", "latency_ms"})


def check_simulation(job: JobDocument, settings: Settings, problems: Problems, at: str) -> None:
    """Note what is wrong with a simulation."""
    assert job.simulation is not None
    check_steps(job.simulation, settings, problems, f"{at}/simulation/steps")


def check_steps(
    simulation: SimulationDocument, settings: Settings, problems: Problems, at: str
) -> None:
    """Note steps that are beyond a limit, and all steps together if they are."""
    if (n_steps := len(simulation.steps)) > (most := settings.simulation_steps_max):
        message = f"{n_steps} steps, at most {most} (simulation_steps_max)"
        problems.add(InvalidValue, at, message)
        return
    totals = {"ms": 0, "iterations": 0}
    n_wrong = len(problems.found)
    for n, step in enumerate(simulation.steps):
        for field in msgspec.structs.fields(step):
            value = getattr(step, field.name)
            pointer = f"{at}/{n}/{field.encode_name}"
            if isinstance(value, str):
                _check_text(value, settings, problems, pointer)
            elif isinstance(value, int):
                _check_amount(step, field.name, settings, problems, pointer)
                totals["ms" if field.name in _WAITS else "iterations"] += value
    if len(problems.found) == n_wrong:
        _check_totals(totals, settings, problems, at)


def _check_text(text: str, settings: Settings, problems: Problems, pointer: str) -> None:
    most = settings.simulation_text_bytes_max
    if "\0" in text:
        problems.add(NulCharacter, pointer, "a text cannot contain NUL")
    elif (size := len(text.encode(errors="surrogatepass"))) > most:
        message = f"{size} bytes, at most {most} (simulation_text_bytes_max)"
        problems.add(InvalidValue, pointer, message)


def _check_amount(
    step: SimulationStep, name: str, settings: Settings, problems: Problems, pointer: str
) -> None:
    value: int = getattr(step, name)
    most: float = settings.simulation_iterations_max
    setting = "simulation_iterations_max"
    if name in _WAITS:
        most, setting = settings.simulation_step_s_max * _MS, "simulation_step_s_max"
    if value < 0:
        problems.add(InvalidValue, pointer, "expected at least 0")
    elif value > most:
        problems.add(InvalidValue, pointer, f"expected at most {most:.15g} ({setting})")


def _check_totals(totals: dict[str, int], settings: Settings, problems: Problems, at: str) -> None:
    most_ms = settings.simulation_job_s_max * _MS
    if totals["ms"] > most_ms:
        message = f"they take {totals['ms']} ms, at most {most_ms:.15g} (simulation_job_s_max)"
        problems.add(InvalidValue, at, message)
    if totals["iterations"] > (most := settings.simulation_iterations_max):
        message = f"{totals['iterations']} iterations, at most {most} (simulation_iterations_max)"
        problems.add(InvalidValue, at, message)


def as_simulation(spec: JobSpec) -> JobSpec:
    """Let only workers run this job that can simulate it."""
    return msgspec.structs.replace(spec, executor=SIMULATION)


APP_NOT_BESIDE: Final = (
    "command",
    "script",
    "function",
    "simulation",
    "cwd",
    "values",
    "container",
)


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
