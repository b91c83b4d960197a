"""Queues from the command line: apply a file, list, show, and test which queue takes a job."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import Weft, as_json, lines
from e2e.terminal import on_terminal, script_of

pytestmark = pytest.mark.heavy
QUEUES = """
[[queue]]
name = "gpu"
priority = 20
guard = 'job.attributes.kind == "gpu"'

[[queue]]
name = "short"
priority = 10
guard = "job.timeout_s > 0 && job.timeout_s <= 600"
"""


@pytest.fixture
def file(weft: Weft, tmp_path: Path) -> Iterator[Path]:
    """Give a file of queues; at the end the server has only `default` again."""
    found = tmp_path / "queues.toml"
    found.write_text(QUEUES)
    yield found
    found.write_text("")
    assert weft.run("queue", "apply", str(found), "--yes", "--delete-all").returncode == 0


def test_a_file_of_queues_is_shown_asked_for_and_applied(weft: Weft, file: Path) -> None:
    planned = weft.run("queue", "apply", str(file), "--dry-run")
    asked = weft.run("queue", "apply", str(file), "--json")
    nothing = json.loads(weft.run("queue", "ls", "--json").stdout)
    applied = weft.run("queue", "apply", str(file), "--yes", "--json")
    again = weft.run("queue", "apply", str(file), "--yes")
    listed = lines(weft.run("queue", "ls").stdout)
    shown = weft.run("queue", "show", "short").stdout.decode()

    assert lines(planned.stdout)[:3] == [
        "+ queue gpu",
        "    priority: 20",
        '    guard: job.attributes.kind == "gpu"',
    ]
    assert "CLI.NOT_CONFIRMED" in asked.stderr.decode()
    assert [one["name"] for one in nothing] == ["default"]
    assert [one["kind"] for one in json.loads(applied.stdout)["changes"]] == ["create", "create"]
    assert b"the queues are like this already" in again.stderr
    assert [line.split("\t")[0] for line in listed] == ["Queue", "gpu", "short", "default"]
    assert "job.timeout_s <= 600" in shown


@pytest.mark.parametrize(("key", "code"), [("n\n", 4), ("\x04", 4), ("", 130)])
def test_queues_stay_if_the_question_is_not_answered_with_yes(
    weft: Weft, file: Path, key: str, code: int
) -> None:
    with on_terminal(script_of("queue", "apply", str(file)), weft.environment()) as terminal:
        terminal.until("Change the queues? [y/N] ")
        if key:
            terminal.type(key)
        else:
            terminal.interrupt()
        terminal.until("weft: nothing was changed")

        assert terminal.finish() == code
    assert [one["name"] for one in as_json(weft, "queue", "ls")] == ["default"]


def test_a_job_shows_its_queue_and_a_document_is_explained(
    weft: Weft, file: Path, tmp_path: Path
) -> None:
    weft.run("queue", "apply", str(file), "--yes")
    document = tmp_path / "batch.yaml"
    document.write_text("jobs: [{timeout_s: 5}, {attributes: {kind: gpu}}, {}, {}]")
    tested = lines(weft.run("queue", "test", str(document)).stdout)
    named = weft.run("run", "--detach", "--queue", "short", "--", "true").stdout.decode().strip()
    batch = named.partition(".")[0]
    job = json.loads(weft.run("status", f"{batch}.j1", "--json").stdout)
    wrong = weft.run("run", "--queue", "nothing", "--", "true")

    assert tested == [
        "job 1: short",
        "  not gpu: its guard fails: there is no 'kind'",
        "job 2: gpu",
        "2 jobs (3, 4): default",
        "  not gpu: its guard fails: there is no 'kind'",
        "  not short: its guard is false: job.timeout_s = 0.0",
    ]
    assert job["queue"] == "short"
    assert weft.run("wait", batch).returncode == 0
    assert (wrong.returncode, b"there is no queue 'nothing'" in wrong.stderr) == (2, True)


def test_a_drained_queue_takes_no_more_jobs(weft: Weft, file: Path) -> None:
    weft.run("queue", "apply", str(file), "--yes")
    drained = weft.run("queue", "drain", "short", "--json")
    refused = weft.run("run", "--queue", "short", "--", "true")
    shown = json.loads(weft.run("queue", "show", "short", "--json").stdout)
    unknown = weft.run("queue", "drain", "nothing")

    assert json.loads(drained.stdout)["state"] in {"draining", "closed"}
    assert b"the queue 'short' is draining" in refused.stderr
    assert (shown["state"], shown["guard"]) == (
        "closed",
        "job.timeout_s > 0 && job.timeout_s <= 600",
    )
    assert (unknown.returncode, b"does not exist" in unknown.stderr) == (2, True)


def test_a_wrong_file_changes_nothing(weft: Weft, file: Path) -> None:
    file.write_text(QUEUES.replace("job.timeout_s >", "job.timeout >"))
    guard = weft.run("queue", "apply", str(file), "--yes")
    file.write_text("[queues]")
    form = weft.run("queue", "apply", str(file), "--yes", "--json")
    file.write_text("# soon\n")
    empty = weft.run("queue", "apply", str(file), "--yes")
    missing = weft.run("queue", "apply", f"{file}.nothing")

    assert guard.returncode == 2
    place = f"{file}:10: queue 'short', guard: line 1, column 1: there is no attribute"
    assert place in guard.stderr.decode()
    assert json.loads(form.stderr)["code"] == "CLI.UNREADABLE_DOCUMENT"
    assert json.loads(form.stderr)["detail"].startswith(f"{file}:1: it has 'queues'")
    assert empty.returncode == 2
    assert "add --delete-all" in empty.stderr.decode()
    assert (missing.returncode, b"cannot read" in missing.stderr) == (2, True)


def test_the_wrong_kind_of_file_is_told(weft: Weft, file: Path, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text("jobs: [{timeout_s: 5m}, {timeout_s: soon}]")
    wrong = weft.run("queue", "test", str(jobs)).stderr.decode()
    tested = weft.run("queue", "test", str(file)).stderr.decode()
    submitted = weft.run("submit", str(file)).stderr.decode()
    applied = weft.run("queue", "apply", str(jobs)).stderr.decode()

    for text in (tested, submitted):
        assert "describes queues, not jobs" in text
        assert f"`weft queue apply --dry-run {file}`" in text
    assert "Queues are written in TOML" in applied
    assert f"{jobs}:1: job 2, timeout_s: 'soon' is not a duration" in wrong


def test_a_job_file_is_tested_as_it_is_submitted(weft: Weft, file: Path, tmp_path: Path) -> None:
    """With its defaults, and durations in words."""
    weft.run("queue", "apply", str(file), "--yes")
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text("x-own: 1\ndefaults: {timeout_s: 5m}\njobs: [{}]")

    assert lines(weft.run("queue", "test", str(jobs)).stdout)[0] == "job 1: short"


def test_waiting_jobs_are_rerouted(weft: Weft, file: Path) -> None:
    weft.run("queue", "apply", str(file), "--yes")
    options = ("--detach", "--not-before", "+1h", "--queue", "short")
    waiting = weft.run("run", *options, "--", "true")
    batch = waiting.stdout.decode().strip().partition(".")[0]
    planned = weft.run("queue", "reroute", "--dry-run", "--json")
    moved = weft.run("queue", "drain", "short", "--move-to", "default")
    job = json.loads(weft.run("status", f"{batch}.j1", "--json").stdout)
    shown = weft.run("status", f"{batch}.j1").stdout.decode()

    assert "moved: from queue short to default" in shown
    assert (job["history"][-1]["subtype"], job["history"][-1]["to"]) == ("moved", "ready")
    assert json.loads(planned.stdout) == []
    assert moved.stdout.decode() == "short → default: 1 job\n"
    assert job["queue"] == "default"
    assert weft.run("cancel", batch).returncode == 0
