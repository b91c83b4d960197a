"""Jobs with functions as the calls that the spawner is told."""

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from weft.core.errors import WeftError
from weft.core.states import AttemptKey
from weft.plugins.executors.function.executor import FunctionExecutor
from weft.ports.executor import ExecutorLimits, ToStart
from weft.wire.function import CallBody, Definition
from weft.wire.spawner import StartProcess
from weft.wire.spec import INDEX_VARIABLE, FunctionSpec, JobSpec

LIMITS = ExecutorLimits(
    grace_ms=300, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10, result_bytes_max=77
)
NAMED = FunctionSpec(call="math:hypot", args=(3, 4))
BROUGHT = FunctionSpec(pickle=b"never read here", python="3.12", path=("/a",))


def start_of(
    spec: JobSpec, definition: int | None = None, executor: FunctionExecutor | None = None
) -> StartProcess:
    one = ToStart(
        AttemptKey(7, 3, 2),
        spec,
        LIMITS,
        cpu_m=500,
        memory_mib=64,
        environment=1,
        definition=definition,
    )
    return (executor or FunctionExecutor()).start_of(one)


def test_a_function_by_its_name_is_a_call_in_a_warm_process() -> None:
    start = start_of(JobSpec(function=NAMED, cwd="/work", timeout_s=1.5, trace_id="a" * 32))

    assert start.warm is not None
    assert start.warm.definition is None
    assert msgspec.msgpack.decode(start.warm.body, type=CallBody) == CallBody("math:hypot", (3, 4))
    assert start.argv[-3:] == ("-m", "weft.worker.warm", "77")
    assert (start.cwd, start.timeout_ms, start.environment) == ("/work", 1500, 1)
    assert (start.cpu_m, start.memory_mib) == (500, 64)
    assert start.env["WEFT_JOB"] == "b7.j3"


def test_what_was_pickled_is_passed_on_as_bytes() -> None:
    spec = JobSpec(function=BROUGHT)
    definition = FunctionExecutor().definition_of(spec)

    assert definition is not None
    assert msgspec.msgpack.decode(definition, type=Definition) == Definition(
        b"never read here", "3.12", ("/a",)
    )
    assert FunctionExecutor().definition_of(JobSpec(function=NAMED)) is None
    started = start_of(spec, definition=4)
    assert started.warm is not None
    assert started.warm.definition == 4


def test_the_callers_interpreter_is_taken_where_there_is_one(tmp_path: Path) -> None:
    """This host is asked about each one again after a while: it may come or go."""
    (there := tmp_path / "python").symlink_to(sys.executable)
    late, now_s = tmp_path / "late", 50.0
    executor = FunctionExecutor(lambda: now_s)

    def program_of(interpreter: Path | None) -> str:
        named = None if interpreter is None else str(interpreter)
        spec = JobSpec(function=FunctionSpec(call="math:hypot", interpreter=named))
        return start_of(spec, executor=executor).argv[0]

    assert program_of(there) == str(there)
    assert program_of(late) == sys.executable
    assert program_of(None) == sys.executable
    there.rename(late)
    now_s += 5
    assert program_of(there) == sys.executable
    assert program_of(late) == str(late)


@pytest.mark.parametrize("spec", [JobSpec(), JobSpec(function=FunctionSpec(arguments=b"x"))])
def test_what_cannot_be_called_is_refused(spec: JobSpec) -> None:
    with pytest.raises(WeftError):
        start_of(spec)


def test_variables_of_a_job_are_those_of_its_process() -> None:
    """So jobs with the same ones share a process, and the interpreter starts with them."""
    executor = FunctionExecutor()

    def environment(env: dict[str, str] | None, **changes: Any) -> dict[str, str]:  # noqa: ANN401 (as the fields)
        return executor.environment_of(JobSpec(function=NAMED, env=env, **changes))

    small, red = environment(None), environment({"COLOUR": "red"})
    inherited = {"HOME": "/mine"}

    assert red == {**small, "COLOUR": "red"}
    assert environment({"COLOUR": "red"}) is red
    assert environment({"COLOUR": "blue"}) != red
    assert environment(None, inherit_env=inherited) is inherited
    assert environment({"COLOUR": "red"}, inherit_env=inherited) == {**inherited, "COLOUR": "red"}
    # The index of an array's job is one of the call.
    spec = JobSpec(function=NAMED, env={INDEX_VARIABLE: "5"})
    assert INDEX_VARIABLE not in executor.environment_of(spec)
    assert start_of(spec).env[INDEX_VARIABLE] == "5"
