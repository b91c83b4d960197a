"""Snakemake as its users type it, on a real weft."""

import json
import re
import shlex
import signal
import subprocess
from pathlib import Path
from typing import IO, Any

import pytest

from e2e.conftest import Weft, until

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / ".tools/snakemake/bin"
GUIDE = ROOT / "docs/guides/with-snakemake.md"
WITHIN_S = 300
pytestmark = [pytest.mark.world(name="snakemake"), pytest.mark.timeout(600)]

WORKFLOW = """
rule all:
    input: "total.txt"

rule count:
    output: "{name}.count"
    threads: 1
    resources: mem_mb=300, runtime=5, weft_priority=7
    shell: "echo {wildcards.name} >> ran; until [ -e go ]; do sleep 0.1; done; echo 1 > {output}"

rule total:
    input: expand("{name}.count", name=["a", "b", "c"])
    output: "total.txt"
    shell: "cat {input} > {output}"
"""
WRONG = """
rule all:
    input: "wrong.txt", "two.txt"

rule wrong:
    output: "wrong.txt"
    shell: "echo ran >> attempts; echo no such gene >&2; exit 3"

rule one:
    output: "one.txt"
    group: "both"
    shell: "echo 1 > {output}"

rule two:
    input: "one.txt"
    output: "two.txt"
    group: "both"
    shell: "echo no such group >&2; exit 4"
"""
FORKS = """
rule all:
    input: "two.txt", "killed.txt"

rule:
    output: "one.txt"
    shell: "cut -d ' ' -f 4 /proc/$PPID/stat >{output}"

rule:
    input: "one.txt"
    output: "two.txt"
    run:
        import os
        assert "SNAKEMAKE_PROFILE" not in os.environ
        print(os.getppid(), file=open(output[0], "w"))

rule killed:
    output: "killed.txt"
    shell: "kill -9 $PPID"
"""


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "snakemake"], check=True, cwd=ROOT)


@pytest.fixture
def environment(weft: Weft) -> dict[str, str]:
    return weft.environment({"PATH": f"{BIN}:{ROOT / '.venv/bin'}:/usr/bin:/bin"})


def started(
    folder: Path, environment: dict[str, str], log: IO[str], more: str = ""
) -> "subprocess.Popen[str]":
    """Start the last of the three lines of the guide."""
    line = f"{GUIDE.read_text().split('```')[1].splitlines()[-1]} {more}"
    return subprocess.Popen(
        shlex.split(line), cwd=folder, env=environment, stdout=log, stderr=log, text=True
    )


def run(folder: Path, environment: dict[str, str], more: str = "") -> tuple[int, str]:
    with (folder / "log").open("w") as log, started(folder, environment, log, more) as process:
        code = process.wait(WITHIN_S)
    return code, (folder / "log").read_text()


def batch_of(weft: Weft, folder: Path) -> dict[str, Any]:
    """Return the batch of a run that goes on."""
    name = (folder / ".snakemake/weft_run").read_text()
    (batch,) = json.loads(weft.run("ls", "--name", name, "--json").stdout)
    return dict(batch)


def test_its_own_suite_passes(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [
            BIN / "python",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--noconftest",
            "-c",
            "/dev/null",
            Path(__file__).with_name("test_plugin.py"),
        ],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=WITHIN_S,
    )

    assert "2 passed" in done.stdout, done.stdout[-5000:]


def test_a_killed_run_is_gone_on_with(
    weft: Weft, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    with (tmp_path / "log").open("w") as log, started(tmp_path, environment, log) as process:
        until((tmp_path / "ran").exists)
        process.kill()
    batch = batch_of(weft, tmp_path)["id"]
    job = json.loads(weft.run("status", f"b{batch}.j1", "--json").stdout)
    unlock = [BIN / "snakemake", "--unlock"]
    subprocess.run(unlock, cwd=tmp_path, env=environment, check=True, capture_output=True)
    (tmp_path / "go").touch()
    code, text = run(tmp_path, environment)

    assert code == 0, text
    assert sorted((tmp_path / "ran").read_text().split()) == ["a", "b", "c"]
    assert (tmp_path / "total.txt").read_text() == "1\n" * 3
    assert not (tmp_path / ".snakemake/weft_run").exists()
    assert json.loads(weft.run("status", f"b{batch}", "--json").stdout)["n_succeeded"] == 4
    assert (job["priority"], job["spec"]["timeout_s"]) == (7, 300)
    assert (job["resources"]["cpu"], job["resources"]["memory"]) == (1, 287 << 20)  # 300 MB


def test_a_job_that_fails_is_told_where_users_look(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "Snakefile").write_text(WRONG)
    code, text = run(tmp_path, environment, "--keep-going --retries 1")

    assert code == 1
    assert (tmp_path / "attempts").read_text() == "ran\n" * 2, text
    for word in ("no such gene", "no such group"):
        told = re.search(rf"weft job (b\d+\.j\d+) failed.*\n +{word}\n.*weft logs \1", text)
        assert told is not None, text
        (file,) = (tmp_path / ".snakemake/weft_logs").rglob(f"{told[1]}.log")
        assert word in file.read_text()
        assert str(file.relative_to(tmp_path)) in text


def test_a_group_that_is_refused_says_why(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(
        WRONG.replace('group: "both"', 'group: "both"\n    threads: 900')
    )
    code, text = run(tmp_path, environment, "--cores 900 --until two")

    assert code == 1
    assert "asks for 900 cpu" in text


def test_jobs_are_forks_of_one_snakemake(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(FORKS)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/config.yaml").write_text("jobs: 1")
    environment["SNAKEMAKE_PROFILE"] = str(tmp_path / "own")
    code, text = run(tmp_path, environment, "--keep-going --jobs 1")

    assert code == 1
    assert re.search(r"weft job b\d+\.j\d+ failed.*(SIGKILL|signal 9)", text), text
    served = {(tmp_path / f"{name}.txt").read_text() for name in ("one", "two")}
    assert len(served) == 1, (served, text)


def test_interrupt_cancels_all(weft: Weft, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    with (tmp_path / "log").open("w") as log, started(tmp_path, environment, log) as process:
        until((tmp_path / "ran").exists)
        batch = batch_of(weft, tmp_path)["id"]
        process.send_signal(signal.SIGINT)
        assert process.wait(WITHIN_S) == 1
    told = json.loads(weft.run("status", f"b{batch}", "--json").stdout)

    assert (told["cancelled"], told["n_cancelled"]) == (True, 3)
    (tmp_path / "go").touch()
    code, text = run(tmp_path, environment)
    assert code == 0, text
