"""The executor and the provider from within a program, on the weft of `WEFT_HOME`."""

import json
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import NoReturn

import parsl
import pytest
from parsl.app.errors import BashExitFailure
from parsl.executors.errors import InvalidResourceSpecification
from parsl.jobs.states import JobState
from parsl.launchers import SimpleLauncher
from parsl.providers.errors import SubmitException
from weft_parsl import WeftExecutor, WeftProvider

from weft import Client, WeftError
from weft.core.errors import CallDied, InvalidDocument

WITHIN_S = 60


@pytest.fixture
def dfk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[parsl.DataFlowKernel]:
    monkeypatch.chdir(tmp_path)
    config = parsl.Config(executors=[WeftExecutor()], retries=2, run_dir=str(tmp_path / "run"))
    dfk = parsl.load(config)
    yield dfk
    if not dfk.cleanup_called:
        dfk.cleanup()


@parsl.python_app
def fails(file: str) -> NoReturn:
    import sys  # noqa: PLC0415 (as apps do)

    with open(file, "a") as tries:
        tries.write("x")
    sys.stderr.write("some words\n")
    raise KeyError("no such gene")


@parsl.python_app
def dies() -> None:
    import os  # noqa: PLC0415

    os.kill(os.getpid(), 9)


@parsl.bash_app
def exits(stderr: str | None = None) -> str:
    return "echo no such gene >&2; exit 3"


@parsl.python_app
def sleeps(file: str, parsl_resource_specification: dict[str, object] | None = None) -> None:
    import time  # noqa: PLC0415

    open(file, "w").close()
    time.sleep(600)


@parsl.python_app
def double(number: int, parsl_resource_specification: dict[str, object] | None = None) -> int:
    return 2 * number


def told(error: BaseException | None) -> str:
    assert error is not None
    return "".join(traceback.format_exception(error))


def test_an_app_raises_what_it_raised(dfk: parsl.DataFlowKernel) -> None:
    error = fails("tries").exception(WITHIN_S)

    assert type(error) is KeyError
    assert Path("tries").read_text() == "xxx"  # the retries are Parsl's
    (batch,) = Client().list_batches(name=f"parsl-{dfk.run_id}")
    assert (batch["n_jobs"], batch["n_failed"]) == (3, 3)
    ref = f"b{batch['id']}.j3"
    for words in (f"weft job {ref}", "  some words", f"weft logs {ref}"):
        assert words in told(error)


@pytest.mark.usefixtures("dfk")
def test_an_app_that_ends_badly_names_its_job() -> None:
    for future, kind, words in (
        (exits(), BashExitFailure, ["exit code 3", "  no such gene", "weft logs b"]),
        (dies(), CallDied, ["signal 9", "weft logs b"]),
    ):
        error = future.exception(WITHIN_S)
        assert type(error) is kind
        for word in words:
            assert word in told(error)


def test_a_specification_is_kept_or_refused(dfk: parsl.DataFlowKernel) -> None:
    wishes = {"cores": 1, "memory": 300, "disk": 10, "running_time_min": 7}
    assert double(21, parsl_resource_specification=wishes).result(WITHIN_S) == 42
    (batch,) = Client().list_batches(name=f"parsl-{dfk.run_id}")
    shown = subprocess.run(
        [sys.executable, "-m", "weft.cli", "status", f"b{batch['id']}.j1", "--json"],
        check=True,
        capture_output=True,
    ).stdout
    document = json.loads(shown)
    assert document["spec"]["timeout_s"] == 420
    for name, amount in {"cpu": 1, "memory": 300e6, "storage": 10e6}.items():
        assert document["resources"][name] == pytest.approx(amount, rel=0.1)
    for wishes, kind in (
        ({"nodes": 2}, InvalidResourceSpecification),
        ({"cores": 9999}, InvalidDocument),
    ):
        error = double(1, parsl_resource_specification=wishes).exception(WITHIN_S)
        assert isinstance(error, kind), told(error)


def test_cleanup_cancels_what_runs(dfk: parsl.DataFlowKernel) -> None:
    future = sleeps("started")
    while not (Path("started").exists() or future.done()):
        time.sleep(0.05)
    dfk.cleanup()

    assert isinstance(future.exception(WITHIN_S), CancelledError)
    (batch,) = Client().list_batches(name=f"parsl-{dfk.run_id}")
    ended = Client().get_batch(batch["id"]).wait(timeout_s=WITHIN_S)
    assert (ended["n_cancelled"], ended["n_jobs"]) == (1, 1)


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    away = WeftExecutor(url="http://127.0.0.1:9")
    with pytest.raises(WeftError, match=r"127\.0\.0\.1:9"):
        away.start()
    with pytest.raises(SubmitException) as caught:
        provider(tmp_path, url="http://127.0.0.1:9").submit("true", 1)
    assert "127.0.0.1:9" in caught.value.message


def provider(folder: Path, **more: object) -> WeftProvider:
    made = WeftProvider(launcher=SimpleLauncher(), **more)
    made.script_dir = str(folder)
    return made


def ended(blocks: WeftProvider, ref: object) -> parsl.jobs.states.JobStatus:
    until = time.monotonic() + WITHIN_S
    while not (status := blocks.status([ref])[0]).terminal and time.monotonic() < until:
        time.sleep(0.05)
    return status


def test_blocks_are_in_the_states_of_parsl(tmp_path: Path) -> None:
    blocks = provider(tmp_path, mem_per_node=0.3, worker_init="export PRE=before")
    good, bad, long = (
        blocks.submit(command, 1)
        for command in ("true", "echo no such gene >&2; exit 3", "sleep 600")
    )

    assert ended(blocks, good).state == JobState.COMPLETED
    status = ended(blocks, bad)
    assert (status.state, status.exit_code) == (JobState.FAILED, 3)
    for words in (f"weft job {bad} failed", "no such gene", f"weft logs {bad}"):
        assert words in (status.message or "")
    assert status.stderr_summary == "no such gene\n"
    hasty = provider(tmp_path, walltime="00:00:01")
    assert ended(hasty, hasty.submit("sleep 600", 1)).state == JobState.TIMEOUT
    assert blocks.cancel([long, good]) == [True, True]
    assert ended(blocks, long).state == JobState.CANCELLED
    assert blocks.status([good, "b1.j99", long])[1].state == JobState.UNKNOWN


def test_a_block_that_cannot_run_is_refused(tmp_path: Path) -> None:
    for more, words in (
        ({"queue": "nosuch"}, "no queue 'nosuch'"),
        ({"nodes_per_block": 2}, "nodes_per_block=1"),
        ({"cores_per_node": 9999}, "cpu"),
    ):
        with pytest.raises(SubmitException) as caught:
            provider(tmp_path, **more).submit("true", 1)
        assert words in caught.value.message
