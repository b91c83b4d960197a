"""The executor from within a program of PSI/J, on the weft of `WEFT_HOME`."""

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from psij import (
    InvalidJobException,
    Job,
    JobExecutor,
    JobSpec,
    JobState,
    JobStatus,
    ResourceSpecV1,
    SubmitException,
)

WITHIN = timedelta(seconds=60)
MODES = ("COPY", "LINK", "MOVE")
ENDS = {"true": 2, "exit 3": 4, "sleep 600": 8}
"""Flags of staging by what a job does, which is cancelled if it takes long."""
FLAGS = [sum(flags) for n in (1, 2, 3) for flags in itertools.combinations(ENDS.values(), n)]
ATTACHES = """
import psij, sys
job = psij.Job()
psij.JobExecutor.get_instance("weft").attach(job, sys.argv[1])
status = job.wait()
print(status.state.name, status.exit_code)
"""


@pytest.fixture
def executor() -> JobExecutor:
    return JobExecutor.get_instance("weft")


def shell(text: str, **more: object) -> Job:
    return Job(JobSpec("/bin/sh", ["-c", text], **more))


def ended(job: Job) -> JobStatus:
    status = job.wait(WITHIN)
    assert status is not None
    return status


def local(path: Path) -> SimpleNamespace:
    """Return what `psij.staging` has for a file; releases before 1 have no such module."""
    return SimpleNamespace(scheme="", hostname=None, path=str(path))


def staged_out(executor: JobExecutor, folder: Path, text: str) -> set[int]:
    """Return the flags whose outputs came, and were cleaned."""
    job = shell(
        f"for f in {' '.join(map(str, FLAGS))}; do echo $f >$f; done; {text}", directory=folder
    )
    folder.mkdir()
    job.spec.stage_out = [
        SimpleNamespace(
            source=f"{flags}",
            target=local(folder / f"out/{flags}"),
            flags=SimpleNamespace(value=flags),
            mode=SimpleNamespace(name="COPY"),
        )
        for flags in FLAGS
    ]
    job.spec.cleanup, job.spec.cleanup_flags = FLAGS, SimpleNamespace(value=ENDS[text])
    executor.submit(job)
    if text.startswith("sleep"):
        while not (folder / str(FLAGS[-1])).exists():
            job.wait(timedelta(seconds=0.05))
        job.cancel()
    expected = {2: JobState.COMPLETED, 4: JobState.FAILED, 8: JobState.CANCELED}
    assert ended(job).state == expected[ENDS[text]]
    assert not [flags for flags in FLAGS if (folder / str(flags)).exists()]
    return {int(file.name) for file in (folder / "out").iterdir()}


@pytest.mark.parametrize("text", ENDS)
def test_each_flag_of_staging_is_kept(executor: JobExecutor, tmp_path: Path, text: str) -> None:
    got = staged_out(executor, tmp_path / "job", text)

    assert got == {flags for flags in FLAGS if flags & ENDS[text]}


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_of_staging_is_kept(executor: JobExecutor, tmp_path: Path, mode: str) -> None:
    source, folder = tmp_path / "a file", tmp_path / "job"
    source.write_text("abc")
    folder.mkdir()
    job = shell("cat 'in/its name' >out; test -L 'in/its name' && exit 9", directory=folder)
    job.spec.stage_in = [
        SimpleNamespace(
            source=local(source), target="in/its name", mode=SimpleNamespace(name=mode)
        )
    ]
    executor.submit(job)

    assert ended(job).exit_code == (9 if mode == "LINK" else 1)
    assert (folder / "out").read_text() == "abc"
    assert source.exists() == (mode != "MOVE")


def test_a_file_that_is_not_there_is_said(executor: JobExecutor, tmp_path: Path) -> None:
    job = shell("true", directory=tmp_path)
    missing = SimpleNamespace(
        source=local(tmp_path / "missing"), target="it", mode=SimpleNamespace(name="COPY")
    )
    job.spec.stage_in = [missing]
    executor.submit(job)
    status = ended(job)

    assert (status.state, status.exit_code) == (JobState.FAILED, 121)
    assert f"there is no file {tmp_path}/missing" in (status.message or "")


def test_callbacks_come_in_order_and_may_wait(executor: JobExecutor) -> None:
    told, more = dict[str, list[str]](), list[Job]()

    def note(job: Job, status: JobStatus) -> None:
        told.setdefault(job.id, []).append(status.state.name)
        if status.state == JobState.ACTIVE and not more:
            more.append(shell("true"))
            executor.submit(more[0])

    executor.set_job_status_callback(note)
    jobs = [shell("true") for _ in range(20)]
    for job in jobs:
        executor.submit(job)
    for job in (*jobs, *more):
        ended(job)

    staging = {"STAGE_IN", "STAGE_OUT", "CLEANUP"}
    for states in told.values():
        assert [state for state in states if state not in staging][:3] == [
            "QUEUED",
            "ACTIVE",
            "COMPLETED",
        ]


def test_another_process_attaches(executor: JobExecutor) -> None:
    runs, failed = shell("sleep 3"), shell("exit 3")
    for job in (runs, failed):
        executor.submit(job)
    ended(failed)
    for job, expected in ((runs, "COMPLETED 0"), (failed, "FAILED 3")):
        attached = subprocess.run(
            [sys.executable, "-c", ATTACHES, job.native_id],
            check=True,
            capture_output=True,
            text=True,
        )
        assert attached.stdout.strip() == expected
    for ref in ("b1.j999999", "17"):
        with pytest.raises(InvalidJobException, match="weft: "):
            executor.attach(Job(), ref)


def test_a_cancelled_job_ends_so(executor: JobExecutor) -> None:
    job = shell("sleep 600")
    executor.submit(job)
    job.wait(WITHIN, [JobState.ACTIVE])
    assert job.native_id in executor.list()
    job.cancel()

    assert ended(job).state == JobState.CANCELED
    assert job.native_id not in executor.list()
    job.cancel()


def test_a_failure_says_where_to_look(executor: JobExecutor, tmp_path: Path) -> None:
    for more in ({}, {"stderr_path": "errors", "directory": tmp_path}):
        job = shell("echo no such gene >&2; exit 3", **more)
        executor.submit(job)
        status = ended(job)
        assert (status.state, status.exit_code) == (JobState.FAILED, 3)
        for word in (
            f"weft job {job.native_id} failed",
            "exit code 3",
            "  no such gene",
            f"weft logs {job.native_id}",
        ):
            assert word in (status.message or "")


@pytest.mark.parametrize("inherits", [True, False])
def test_the_environment_is_the_callers_or_its_own(
    executor: JobExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, inherits: bool
) -> None:
    job = shell(
        'echo "$OWN,${WEFT_JOB:+inherited},$PRE"',
        environment={"OWN": "a 'b' $c"},
        inherit_environment=inherits,
        stdout_path=tmp_path / "out",
        pre_launch=tmp_path / "pre.sh",
    )
    (tmp_path / "pre.sh").write_text("export PRE=before")
    executor.submit(job)

    assert ended(job).state == JobState.COMPLETED
    here = "inherited" if inherits else ""
    assert (tmp_path / "out").read_text() == f"a 'b' $c,{here},before\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda spec: setattr(spec.attributes, "queue_name", "nosuch"), "no queue 'nosuch'"),
        (lambda spec: setattr(spec.attributes, "account", "nosuch"), "nosuch"),
        (lambda spec: setattr(spec.attributes, "reservation_id", "r1"), "reservation_id"),
        (lambda spec: spec.attributes.set_custom_attribute("weft.prio", 5), "prio"),
        (lambda spec: setattr(spec, "resources", ResourceSpecV1(node_count=2)), "node_count=1"),
        (
            lambda spec: setattr(spec, "resources", ResourceSpecV1(cpu_cores_per_process=9999)),
            "cpu",
        ),
        (lambda spec: setattr(spec, "launcher", "nosuch"), "nosuch"),
        (lambda spec: setattr(spec, "executable", None), "executable"),
    ],
)
def test_what_can_never_run_is_refused_at_once(
    executor: JobExecutor, change: Callable[[JobSpec], None], words: str
) -> None:
    job = shell("true")
    change(job.spec)
    with pytest.raises(InvalidJobException, match=words):
        executor.submit(job)
    assert job.status.state == JobState.NEW


def test_a_server_that_is_not_there_is_said() -> None:
    away = JobExecutor.get_instance("weft", url="http://127.0.0.1:9")
    with pytest.raises(SubmitException, match=r"weft: .*127\.0\.0\.1:9") as caught:
        away.submit(shell("true"))
    assert caught.value.transient


def test_what_is_asked_for_arrives(executor: JobExecutor) -> None:
    job = shell("true")
    job.spec.resources = ResourceSpecV1(process_count=2, cpu_cores_per_process=1, memory=300 << 20)
    job.spec.attributes.duration = timedelta(minutes=7)
    job.spec.attributes.custom_attributes = {"weft.priority": 7, "slurm.constraint": "other"}
    executor.submit(job)
    shown = subprocess.run(
        [sys.executable, "-m", "weft.cli", "status", job.native_id, "--json"],
        check=True,
        capture_output=True,
    ).stdout
    document = json.loads(shown)

    assert (document["priority"], document["spec"]["timeout_s"]) == (7, 420)
    assert (document["resources"]["cpu"], document["resources"]["memory"]) == (2, 300 << 20)
    ended(job)
