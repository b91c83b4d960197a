"""Simulated jobs: checks, and their executor in specs."""

from typing import Final

import msgspec

from weft.core.errors import InvalidValue, NulCharacter
from weft.core.problems import Problems
from weft.settings import Settings
from weft.submission.translation.executors import SIMULATION
from weft.wire.documents.batches import JobDocument
from weft.wire.documents.simulations import SimulationDocument, SimulationStep
from weft.wire.spec import JobSpec

NOT_BESIDE: Final = (
    "command", "script", "function", "env", "cwd", "stdin", "umask", "resources", "machine",
    "secrets", "network", "retry_with", "values", "container", "engine", "inputs", "outputs",
)  # fmt: skip
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
