"""Toil as its users type it, and its own tests, on a real weft."""

import json
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from typing import IO, Any

import pytest

from e2e.conftest import Weft, until

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / ".tools/toil/bin"
GUIDE = ROOT / "docs/guides/with-toil.md"
HERE = Path(__file__).parent
WITHIN_S = 500
pytestmark = [pytest.mark.world(name="toil"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "toil"], check=True, cwd=ROOT)


@pytest.fixture
def environment(weft: Weft) -> dict[str, str]:
    return weft.environment({"PATH": f"{BIN}:{ROOT / '.venv/bin'}:/usr/bin:/bin"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(HERE / "workflows", tmp_path / "workflows"))


def started(
    folder: Path, environment: dict[str, str], log: IO[str], line: str
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        shlex.split(line), cwd=folder, env=environment, stdout=log, stderr=log, text=True
    )


def run(folder: Path, environment: dict[str, str], line: str) -> tuple[int, str]:
    with (folder / "log").open("w") as log, started(folder, environment, log, line) as process:
        code = process.wait(WITHIN_S)
    return code, (folder / "log").read_text()


def of_tool(folder: Path, tool: str, more: str = "") -> str:
    """Return a command line for a tool that is told where its folder is."""
    store = f"--jobStore {folder}/store --workDir {folder}"
    return f"toil-cwl-runner --batchSystem weft {store} {more} {tool} --folder {folder}"


def batches(weft: Weft) -> dict[int, dict[str, Any]]:
    listed = json.loads(weft.run("ls", "--json").stdout)
    return {each["id"]: each for each in listed if str(each["name"]).startswith("toil-")}


def test_its_own_suite_passes(environment: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [
            BIN / "python",
            "-m",
            "pytest",
            "-q",
            "-W",
            "ignore",
            "-p",
            "toil.test.conftest",
            "-p",
            "no:cacheprovider",
            "--noconftest",
            "-c",
            "/dev/null",
            HERE / "test_batch_system.py",
        ],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        timeout=WITHIN_S,
    )

    assert "8 passed" in done.stdout, done.stdout[-5000:]


def test_a_workflow_has_scatter_a_subworkflow_and_files(
    weft: Weft, environment: dict[str, str], folder: Path
) -> None:
    before = batches(weft)
    code, text = run(folder, environment, GUIDE.read_text().split("```")[1].splitlines()[-1])

    assert code == 0, text
    lines = (folder / "joined.txt").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["3", "5"]
    assert (folder / "count.txt").read_text().split()[0] == str(
        (folder / "joined.txt").stat().st_size
    )
    (batch,) = (each for number, each in batches(weft).items() if number not in before)
    assert (batch["n_jobs"], batch["n_succeeded"], batch["cancelled"]) == (4, 4, False)


def test_requirements_are_those_of_the_tool_and_not_of_its_worker(
    environment: dict[str, str], folder: Path
) -> None:
    code, text = run(folder, environment, of_tool(folder, "limited.cwl", "--retryCount 0"))

    assert code == 0, text


def test_expressions_of_wdl_are_jobs(
    weft: Weft, environment: dict[str, str], folder: Path
) -> None:
    before, line = batches(weft), "toil-wdl-runner --batchSystem weft --runLocalJobsOnWorkers"
    code, text = run(folder, environment, f"{line} squares.wdl squares.json")

    assert code == 0, text
    assert '{"squares.squares": [1, 4, 9]}' in text
    (batch,) = (each for number, each in batches(weft).items() if number not in before)
    assert batch["n_jobs"] == batch["n_succeeded"] > 3


def test_a_job_that_fails_is_told_where_users_look(
    weft: Weft, environment: dict[str, str], folder: Path
) -> None:
    code, text = run(folder, environment, of_tool(folder, "wrong.cwl", "--retryCount 1"))

    assert code == 1
    assert (folder / "ran").read_text() == "ran\n" * 2, text  # the retry is Toil's
    told = re.findall(
        r"weft job (b\d+\.j\d+) failed.*\n  no such gene\n(?:  .*\n)*.*weft logs \1", text
    )
    assert [ref.partition(".")[2] for ref in told] == ["j1", "j2"], text
    assert b"no such gene" in weft.run("logs", told[0]).stderr


def test_a_killed_leader_is_restarted(
    weft: Weft, environment: dict[str, str], folder: Path
) -> None:
    before, line = batches(weft), of_tool(folder, "waits.cwl")
    with (folder / "log").open("w") as log, started(folder, environment, log, line) as process:
        until((folder / "ran").exists)
        process.kill()
    again = of_tool(folder, "waits.cwl", "--restart")
    with (folder / "log").open("w") as log, started(folder, environment, log, again) as process:
        until(lambda: (folder / "ran").read_text() == "ran\n" * 2)
        (folder / "go").touch()
        code = process.wait(WITHIN_S)

    assert code == 0, (folder / "log").read_text()
    assert (folder / "ran").read_text() == "ran\nran\ndone\n"  # the first has gone
    first, second = (
        each for number, each in sorted(batches(weft).items()) if number not in before
    )
    assert first["name"] == second["name"]
    assert (first["n_cancelled"], second["n_succeeded"]) == (1, 1)


def test_interrupt_cancels_all(weft: Weft, environment: dict[str, str], folder: Path) -> None:
    before, line = batches(weft), of_tool(folder, "waits.cwl")
    with (folder / "log").open("w") as log, started(folder, environment, log, line) as process:
        until((folder / "ran").exists)
        process.send_signal(signal.SIGINT)
        assert process.wait(WITHIN_S) != 0
    (batch,) = (each for number, each in batches(weft).items() if number not in before)

    assert (batch["cancelled"], batch["n_cancelled"], batch["n_jobs"]) == (True, 1, 1)


def test_what_weft_refuses_is_said(environment: dict[str, str], folder: Path) -> None:
    for more, variables, words in (
        ("--weftQueue nosuch --retryCount 0", {}, "no queue 'nosuch'"),
        ("", {"WEFT_TOKEN": "wrong"}, "token"),
    ):
        shutil.rmtree(folder / "store", ignore_errors=True)
        code, text = run(folder, environment | variables, of_tool(folder, "waits.cwl", more))
        assert code != 0
        assert words in text
