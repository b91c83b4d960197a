"""What commands print on a terminal of 80 columns: no line is longer."""

import json
import re
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.terminal import on_terminal, script_of
from weft.settings import all_declared

pytestmark = pytest.mark.heavy
WIDTH = 80
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LONG = "a-name-that-is-much-too-long-for-a-column-" * 3
FILE = f"""
name: {LONG}
attributes: {{key: {LONG}}}
jobs:
  - {{name: {LONG}, command: [no-such-program-{LONG}], group: /{LONG}}}
  - {{command: ["true"], group: /{LONG}}}
"""
QUEUES = f"""
[[queue]]
name = "{LONG[:60]}"
priority = 10
guard = "user == 'nobody' && job.name.startsWith('{LONG}')"
"""


def shown(weft: Weft, *words: str) -> list[str]:
    """Return the lines that a command draws."""
    with on_terminal(script_of(*words), weft.environment(), columns=WIDTH) as terminal:
        terminal.finish()
        return ESCAPES.sub("", terminal.shown).replace("\r", "").split("\n")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "jobs.yaml").write_text(FILE)
    (tmp_path / "queues.toml").write_text(QUEUES)
    return str(tmp_path / "jobs.yaml"), str(tmp_path / "queues.toml")


def too_wide(weft: Weft, commands: list[str]) -> list[str]:
    """Return the lines of these commands that do not fit."""
    return [
        f"{command}: {line}"
        for command in commands
        for line in shown(weft, *command.split())
        if len(line) > WIDTH
    ]


def test_batches_and_jobs_fit(weft: Weft, files: tuple[str, str]) -> None:
    batch = weft.run("submit", files[0]).stdout.decode().strip()
    weft.run("wait", batch)
    commands = [f"{word} {batch}" for word in ("jobs", "groups", "status", "callback ls")]
    commands += [f"status {batch}.j1", f"status {batch}/{LONG}", "ls", "status b999999999"]

    assert too_wide(weft, commands) == []


def test_what_an_operator_lists_fits(weft: Weft, files: tuple[str, str]) -> None:
    (worker, _) = json.loads(weft.run("worker", "ls", "--json").stdout)
    commands = [
        "worker ls",
        "pool ls",
        f"worker show {worker['worker']}",
        "doctor",
        "audit",
        "db status",
        "db migrate --plan",
        "billing rates",
        "billing cost",
        "billing days",
        "bench",
    ]

    assert too_wide(weft, commands) == []


def test_queues_fit(weft: Weft, files: tuple[str, str]) -> None:
    jobs, queues = files
    planned = too_wide(weft, [f"queue apply --dry-run {queues}"])
    assert weft.run("queue", "apply", "--yes", queues).returncode == 0
    commands = ["queue ls", "queue show default", f"queue show {LONG[:60]}", f"queue test {jobs}"]
    found = too_wide(weft, commands)
    fields = [line.split()[0] for line in shown(weft, "queue", "show", "default") if line.strip()]
    Path(queues).write_text("")
    assert weft.run("queue", "apply", "--yes", "--delete-all", queues).returncode == 0

    assert planned + found == []
    assert fields[:2] == ["name", "pools"]


def test_names_of_settings_are_whole(weft: Weft) -> None:
    lines = shown(weft, "config")

    assert [line for line in lines if len(line) > WIDTH] == []
    assert [
        name for name in all_declared() if not any(f"{name} =" in line for line in lines)
    ] == []


def test_an_empty_column_is_left_out(weft: Weft) -> None:
    batch = weft.run("submit", "-", stdin=b"jobs: [{}, {}]").stdout.decode().strip()
    weft.run("wait", batch)
    named = weft.run("run", "--detach", "--name", "n", "--", "true").stdout.decode().strip()

    assert "Name" not in shown(weft, "jobs", batch)[0]
    assert "Name" in shown(weft, "jobs", named.partition(".")[0])[0]
