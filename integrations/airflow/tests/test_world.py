"""Airflow as its users have it, on a real weft."""

import json
import os
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / ".tools/airflow/bin"
GUIDE = ROOT / "docs/guides/with-airflow.md"
WITHIN_S = 300
pytestmark = [pytest.mark.world(name="airflow"), pytest.mark.timeout(900)]


def until(is_so: Callable[[], bool]) -> None:
    """Wait for what Airflow, which takes minutes to start, tells only if it is asked."""
    never, begun = threading.Event(), time.monotonic()
    while time.monotonic() < begun + WITHIN_S:
        with suppress(OSError, ValueError, KeyError):  # it has no answer yet
            if is_so():
                return
        never.wait(1)
    raise AssertionError(is_so)


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "airflow"], check=True, cwd=ROOT)


@pytest.fixture
def airflow(weft: Weft, tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """Start the last of the guide's three lines, with its DAG; give the environment of it."""
    _, lines, _, program, *_ = GUIDE.read_text().split("```")
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags/five.py").write_text(program.removeprefix("python\n"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    setting, *line = shlex.split(lines.splitlines()[-1])
    environment = weft.environment(
        {
            "AIRFLOW_HOME": str(tmp_path),
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
            "AIRFLOW__API__PORT": str(port),
            "AIRFLOW__API__BASE_URL": url,
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "false",
            setting.partition("=")[0]: setting.partition("=")[2],
        }
    )
    with (
        (tmp_path / "told").open("w") as told,
        subprocess.Popen(
            [BIN / line[0], *line[1:]],
            cwd=tmp_path,
            env=environment,
            stdout=told,
            stderr=told,
            start_new_session=True,
        ) as process,
    ):
        try:
            with_health = f"{url}/api/v2/monitor/health"
            until(lambda: json.load(urlopen(with_health))["scheduler"]["status"] == "healthy")  # noqa: S310
            yield environment
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_a_dag_of_five_tasks(weft: Weft, airflow: Mapping[str, str], tmp_path: Path) -> None:
    line = [BIN / "airflow", "dags", "trigger", "five"]
    until(lambda: not subprocess.run(line, check=False, env=airflow, cwd=tmp_path).returncode)
    until(lambda: json.loads(weft.run("status", "b1", "--json").stdout)["n_succeeded"] == 5)

    assert b"doubling" in weft.run("logs", "b1.j2").stdout
    assert b"five.total" in weft.run("status", "b1.j5").stdout
    assert not list((tmp_path / "weft").glob("*.json"))


ENDS = """
import os, signal, time
from airflow.sdk import dag, task


@dag(schedule=None)
def ends():
    @task
    def fails():
        raise ValueError("no")

    @task(retries=1, retry_delay=0)
    def fails_once(**context):
        if context["ti"].try_number == 1:
            raise ValueError("not yet")

    @task
    def killed():
        os.kill(os.getpid(), signal.SIGKILL)

    @task
    def cancelled():
        time.sleep(3600)

    fails(), fails_once(), killed(), cancelled()


ends()
"""


def test_what_fails_is_killed_or_cancelled_is_so_for_both(
    weft: Weft, airflow: Mapping[str, str], tmp_path: Path
) -> None:
    (tmp_path / "dags/ends.py").write_text(ENDS)
    line = [BIN / "airflow", "dags", "trigger", "ends", "--run-id", "r"]
    until(lambda: not subprocess.run(line, check=False, env=airflow, cwd=tmp_path).returncode)

    def found() -> list[Mapping[str, Any]]:
        batches = json.loads(weft.run("ls", "--json").stdout)
        return [
            job
            for batch in batches
            for job in json.loads(weft.run("jobs", f"b{batch['id']}", "--json").stdout)
            if job["name"].startswith("ends.")
        ]

    def jobs() -> list[tuple[str, str]]:
        return sorted((job["name"], job["state"]) for job in found())

    until(lambda: ("ends.cancelled", "running") in jobs())
    (job,) = (one for one in found() if one["name"] == "ends.cancelled")
    weft.told("cancel", f"b{job['batch_id']}.j{job['job_id']}")
    until(lambda: len(jobs()) == 5 and not {s for _, s in jobs()} & {"ready", "running", "queued"})
    assert jobs() == [
        ("ends.cancelled", "cancelled"),
        ("ends.fails", "failed"),
        ("ends.fails_once", "failed"),
        ("ends.fails_once", "success"),
        ("ends.killed", "failed"),
    ]

    def states() -> Mapping[str, str]:
        words = ["tasks", "states-for-dag-run", "ends", "r", "--output", "json"]
        asked = subprocess.check_output([BIN / "airflow", *words], env=airflow, cwd=tmp_path)
        return {one["task_id"]: one["state"] for one in json.loads(asked)}

    told = {"cancelled": "failed", "fails": "failed", "fails_once": "success", "killed": "failed"}
    until(lambda: states() == told)
