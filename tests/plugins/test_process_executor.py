"""Jobs with commands and scripts as the processes that the spawner is told, and their
environment.
"""

import pytest

from cases import cases
from weft.core.states import AttemptKey
from weft.plugins.executors.job_environment import name_and_home
from weft.plugins.executors.process import ProcessExecutor
from weft.ports.executor import ExecutorLimits, ToStart
from weft.wire.documents.services import ServiceDocument
from weft.wire.spawner import StartProcess
from weft.wire.spec import JobSpec

LIMITS = ExecutorLimits(grace_ms=300, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)
HOSTILE = ("$(touch a)", "`touch a`", "; touch a", "| touch a", "> a", "a\nb", "-c", "", "* ~")


def start_of(spec: JobSpec) -> StartProcess:
    one = ToStart(AttemptKey(7, 3, 2), spec, LIMITS, cpu_m=500, memory_mib=64, environment=1)
    return ProcessExecutor().start_of(one)


@cases("command", [(word,) for word in HOSTILE] + [("echo", *HOSTILE)])
def test_command_stays_the_words_that_it_is(command: tuple[str, ...]) -> None:
    """Also a single one, of which other systems make a line for a shell."""
    start = start_of(JobSpec(command=command, env={"A": HOSTILE[0]}))

    assert (start.argv, start.script) == (command, None)
    assert start.env["A"] == HOSTILE[0]


def test_arguments_of_a_script_are_no_part_of_it() -> None:
    start = start_of(JobSpec(script='echo "$@"', command=HOSTILE))

    assert start.argv == ("/bin/sh", "-c", 'echo "$@"', "/bin/sh", *HOSTILE)


def test_script_of_a_service_that_is_too_large_for_an_argument_stays_a_file() -> None:
    script = "#" * 150_000
    start = start_of(JobSpec(script=script, service=ServiceDocument()))

    assert start.argv == ("mind",)
    assert start.script is not None
    assert start.script.startswith("#!/bin/sh\n")
    assert start.script.endswith(f"; shift\n{script}")


def test_user_without_a_name_is_called_by_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one that a container was started with by its number."""
    monkeypatch.setenv("HOME", "/somewhere")

    assert name_and_home(0) == ("root", "/root")
    assert name_and_home(54321) == ("54321", "/somewhere")
