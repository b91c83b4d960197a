"""The executor from within a program of submitit, on the weft of `WEFT_HOME`."""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest
import submitit

FOUND_AGAIN = """
import sys
from weft_submitit.executor import WeftJob
print(WeftJob(sys.argv[1], sys.argv[2]).result())
"""


@pytest.fixture
def executor(tmp_path: Path) -> submitit.AutoExecutor:
    return submitit.AutoExecutor(tmp_path / "a log", cluster="weft")


def test_results_and_streams_are_had(executor: submitit.AutoExecutor) -> None:
    executor.update_parameters(name="sums", mem_gb=0.25, weft_priority=3, timeout_min=1)
    jobs = executor.map_array(lambda a, b: os.write(1, b"adds\n") and a + b, [1, 2], [10, 20])

    assert [job.result() for job in jobs] == [11, 22]
    assert "adds\n" in (jobs[0].stdout() or "")
    assert [job.state for job in jobs] == ["FINISHED"] * 2
    assert jobs[0].job_id.partition(".")[0] == jobs[1].job_id.partition(".")[0]


def test_another_process_finds_a_job(executor: submitit.AutoExecutor) -> None:
    job = executor.submit(pow, 2, 10)
    done = subprocess.run(
        [sys.executable, "-c", FOUND_AGAIN, job.paths.folder, job.job_id],
        check=True,
        capture_output=True,
        text=True,
    )

    assert done.stdout == "1024\n"
    assert pickle.loads(pickle.dumps(job)).result() == 1024  # noqa: S301 (our own)


@pytest.mark.parametrize("end", [sys.exit, os._exit])
def test_a_failure_says_where_to_look(executor: submitit.AutoExecutor, end: object) -> None:
    def fail() -> None:
        os.write(2, b"no such gene\n")
        end(3)

    job = executor.submit(fail)
    told = str(job.exception())

    assert isinstance(job.exception(), submitit.core.utils.UncompletedJobError)
    for word in (
        f"weft job {job.job_id} failed",
        "exit code 3",
        "\n  no such gene\n",
        f"weft logs {job.job_id}",
    ):
        assert word in told


def test_what_a_function_raised_is_told(executor: submitit.AutoExecutor) -> None:
    job = executor.submit(lambda: 1 / 0)
    with pytest.raises(submitit.core.utils.FailedJobError, match="ZeroDivisionError") as told:
        job.result()
    assert f"weft logs {job.job_id}" in str(told.value)


def test_a_cancelled_job_ends_so(executor: submitit.AutoExecutor) -> None:
    job = executor.submit(time.sleep, 600)
    assert job.state in {"PENDING", "RUNNING"}
    job.cancel()
    job.wait()

    assert job.state == "CANCELLED"
    with pytest.raises(submitit.core.utils.UncompletedJobError, match="weft job"):
        job.result()


@pytest.mark.parametrize("name", ["nodes", "tasks_per_node"])
def test_a_job_is_one_task(executor: submitit.AutoExecutor, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}=1"):
        executor.update_parameters(**{name: 2})


def test_an_unknown_queue_is_refused(executor: submitit.AutoExecutor) -> None:
    executor.update_parameters(weft_queue="nosuch")
    with pytest.raises(submitit.core.utils.FailedSubmissionError, match="no queue 'nosuch'"):
        executor.submit(pow, 2, 10)
