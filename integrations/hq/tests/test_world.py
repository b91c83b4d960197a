"""Nextflow as its users type it, on a real weft."""

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import pytest

from e2e.conftest import Weft, until

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs/guides/with-nextflow.md"
WITHIN_S = 300
pytestmark = [
    pytest.mark.world(name="nextflow"),
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("nextflow"),
]

SOUND = """
params.at = launchDir.toString()
process lines {
  tag "$name: it's (a) \\"tag\\", Ångström"
  publishDir 'out'
  input: tuple val(name), path(file)
  output: path "${name}.count"
  script: "echo \\"$name\\" >> ${params.at}/ran; cat $file | wc -l > \\"${name}.count\\""
  stub: "echo stub > \\"${name}.count\\""
}
process keep {
  storeDir 'kept'
  input: path files
  output: path 'total.txt'
  script: "cat *.count > total.txt"
  stub: "echo stub > total.txt"
}
workflow {
  lines(channel.fromPath("${params.at}/* .txt").map { [it.simpleName.replace(' ', '_'), it] })
  keep(lines.out.collect()).view { "kept ${it.name}" }
}
"""
FAILING = """
process grows {
  errorStrategy 'retry'
  maxRetries 2
  memory { 100.MB * task.attempt }
  cpus 1
  time '1h'
  input: val x
  output: stdout
  script: "[ $task.attempt = 3 ] || kill -9 \\$\\$; echo grown at $task.attempt"
}
process broken {
  errorStrategy 'ignore'
  output: stdout
  script: "echo no such gene >&2; exit 3"
}
workflow { grows(1).view(); broken() }
"""
FINISH = """
params.at = launchDir.toString()
process broken {
  errorStrategy 'finish'
  script: "until [ -e ${params.at}/began ]; do sleep 0.1; done; exit 3"
}
process slow { script: "touch ${params.at}/began; sleep 3; touch ${params.at}/ended" }
workflow { broken(); slow() }
"""
WAITING = '''
params.at = launchDir.toString()
process first { output: val 1
  script: "echo first >> ${params.at}/ran" }
process waits { input: tuple val(x), val(y)
  output: stdout
  script: """
    echo $y >> ${params.at}/ran; until [ -e ${params.at}/go ]; do sleep 0.1; done; echo went $y
  """ }
workflow { waits(first().combine(channel.of("a", "b"))).view() }
'''


def started(
    folder: Path, environment: Mapping[str, str], log: IO[str], more: str = ""
) -> "subprocess.Popen[str]":
    """Start the last of the three lines of the guide, as a group of its own, as a shell does."""
    line = f"{GUIDE.read_text().split('```')[1].splitlines()[-1]} {more}"
    return subprocess.Popen(
        shlex.split(line),
        cwd=folder,
        env=dict(environment),
        stdout=log,
        stderr=log,
        text=True,
        start_new_session=True,
    )


def run(
    folder: Path, environment: Mapping[str, str], script: str, more: str = ""
) -> tuple[int, str]:
    (folder / "main.nf").write_text(script)
    with (folder / "log").open("w") as log, started(folder, environment, log, more) as process:
        code = process.wait(WITHIN_S)
    return code, (folder / "log").read_text()


def live_jobs(environment: Mapping[str, str]) -> list[Any]:
    line = ["hq", "job", "list", "--output-mode=json"]
    done = subprocess.run(line, env=dict(environment), capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def test_a_pipeline_runs_and_is_resumed(environment: Mapping[str, str], tmp_path: Path) -> None:
    for name in ("one", "it's two"):
        (tmp_path / f"{name} .txt").write_text("line\n" * 3)
    reports = "-with-trace trace.txt -with-report report.html -with-timeline timeline.html"
    code, text = run(tmp_path, environment, SOUND, reports)

    assert code == 0, text
    assert "kept total.txt" in text
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "it's_two_.count",
        "one_.count",
    ]
    assert (tmp_path / "report.html").stat().st_size > 0
    assert (tmp_path / "trace.txt").read_text().count("COMPLETED") == 3
    (tmp_path / "kept/total.txt").unlink()
    code, text = run(tmp_path, environment, SOUND, "-resume")
    assert (code, text.count("Cached process > lines")) == (0, 2), text
    assert len((tmp_path / "ran").read_text().splitlines()) == 2
    (tmp_path / "kept/total.txt").unlink()
    code, text = run(tmp_path, environment, SOUND, "-stub-run")
    assert (code, (tmp_path / "kept/total.txt").read_text()) == (0, "stub\n"), text
    code, text = run(tmp_path, environment, SOUND)
    assert (code, text.count("Stored process > keep")) == (0, 1), text


def test_failures_are_nextflows_to_repeat(
    weft: Weft, environment: Mapping[str, str], tmp_path: Path
) -> None:
    code, text = run(tmp_path, environment, FAILING, "-with-trace trace.txt")

    assert code == 0, text
    assert "grown at 3" in text
    assert text.count("terminated with an error exit status (137) -- Execution is retried") == 2
    assert "terminated with an error exit status (3) -- Error is ignored" in text
    trace = [line.split("\t") for line in (tmp_path / "trace.txt").read_text().splitlines()[1:]]
    jobs = {line[2]: line[5] for line in trace if line[3].startswith("grows")}
    asked = [
        json.loads(weft.run("status", f"b{n}.j1", "--json").stdout) for n in sorted(jobs, key=int)
    ]
    assert [job["resources"]["memory"] >> 20 for job in asked] == [100, 200, 300]
    assert [job["attempt"] for job in asked] == [1, 1, 1]
    assert {job["spec"]["timeout_s"] for job in asked} == {3600}


def test_what_runs_is_finished_after_a_failure(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    code, text = run(tmp_path, environment, FINISH)

    assert code != 0
    assert "Execution completed unsuccessfully" in text or "exit status (3)" in text, text
    assert (tmp_path / "ended").exists()


def test_a_killed_run_is_resumed(environment: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "main.nf").write_text(WAITING)
    with (tmp_path / "log").open("w") as log, started(tmp_path, environment, log) as process:
        until(lambda: len(_ran(tmp_path)) == 3)
        process.kill()
    (tmp_path / "go").touch()
    code, text = run(tmp_path, environment, WAITING, "-resume")

    assert code == 0, text
    assert sorted(re.findall("went .", text)) == ["went a", "went b"]
    assert _ran(tmp_path).count("first") == 1
    until(lambda: not live_jobs(environment))


def test_interrupt_cancels_all(environment: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "main.nf").write_text(WAITING)
    with (tmp_path / "log").open("w") as log, started(tmp_path, environment, log) as process:
        until(lambda: len(_ran(tmp_path)) == 3)
        assert len(live_jobs(environment)) == 2
        os.killpg(process.pid, signal.SIGINT)
        process.wait(WITHIN_S)
    until(lambda: not live_jobs(environment))


def _ran(folder: Path) -> list[str]:
    file = folder / "ran"
    return file.read_text().split() if file.exists() else []
