"""The field `simulation` of jobs, from the document to the spec that workers read."""

from typing import Any

import pytest

from submission.test_translate import rows_of
from weft.core.errors import InvalidDocument
from weft.ports.store import Shape
from weft.wire.spec import decode_chunk

SLEEP: dict[str, Any] = {"action": "SLEEP", "durationMs": 1000}


def simulated(*steps: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"simulation": {"steps": steps}, **more}


def wrong(*documents: dict[str, Any]) -> dict[str, str]:
    """Return what is said of these documents, by pointer."""
    with pytest.raises(InvalidDocument) as refused:
        rows_of(list(documents))
    return {error.pointer: error.message for error in refused.value.errors}


def test_only_workers_of_simulations_run_it() -> None:
    """It takes a slot of them, and nothing of a host."""
    rows = rows_of([{"command": ["true"]}, simulated(SLEEP), simulated(count=3)])
    specs = [spec for body in rows.chunk_body for spec in decode_chunk(body)]

    assert [one.executor for one in specs] == ["process", *["simulation"] * 4]
    assert [rows.shapes[index] for index in rows.shape_index[1:]] == [
        Shape(cpu_m=1, memory_mib=0, words=(("executor", "simulation"),))
    ] * 2
    assert specs[1].simulation is not None
    assert [step.__class__.__name__ for step in specs[1].simulation.steps] == ["Sleep"]


def test_what_is_of_a_process_is_refused_beside_it() -> None:
    more = {"command": ["true"], "env": {"A": "1"}, "resources": {"cpu": 1}, "executor": "process"}
    beside = {"/jobs/0/command", "/jobs/0/env", "/jobs/0/resources", "/jobs/0/executor"}

    assert wrong(simulated(SLEEP, **more)).keys() == beside
    assert wrong({"executor": "simulation"}).keys() == {"/jobs/0/simulation"}


def test_every_step_beyond_a_limit_is_named() -> None:
    said = wrong(
        simulated(
            {"action": "SLEEP", "durationMs": -1},
            {"action": "HTTP_CALL", "latencyMs": 3_600_001},
            {"action": "COMPUTE", "iterations": 10**30},
            {"action": "FAIL", "message": "\0"},
            {"action": "LOG", "message": "x" * 70_000},
        ),
        simulated(*[SLEEP] * 1001),
    )

    assert said == {
        "/jobs/0/simulation/steps/0/durationMs": "expected at least 0",
        "/jobs/0/simulation/steps/1/latencyMs": "expected at most 3600000 (simulation_step_s_max)",
        "/jobs/0/simulation/steps/2/iterations": (
            "expected at most 2147483647 (simulation_iterations_max)"
        ),
        "/jobs/0/simulation/steps/3/message": "a text cannot contain NUL",
        "/jobs/0/simulation/steps/4/message": (
            "70000 bytes, at most 65536 (simulation_text_bytes_max)"
        ),
        "/jobs/1/simulation/steps": "1001 steps, at most 1000 (simulation_steps_max)",
    }


def test_all_steps_together_have_limits() -> None:
    hour = {"action": "SLEEP", "durationMs": 3_600_000}
    half = {"action": "COMPUTE", "iterations": 1_100_000_000}

    assert wrong(simulated(*[hour] * 25), simulated(half, half)) == {
        "/jobs/0/simulation/steps": (
            "they take 90000000 ms, at most 86400000 (simulation_job_s_max)"
        ),
        "/jobs/1/simulation/steps": (
            "2200000000 iterations, at most 2147483647 (simulation_iterations_max)"
        ),
    }
