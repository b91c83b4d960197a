"""When jobs may run, with a real driver and a real worker."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.test_batches import as_json
from weft import Client

pytestmark = pytest.mark.slow


def test_job_starts_by_itself_when_its_time_comes(weft: Weft) -> None:
    at = datetime.now(UTC) + timedelta(seconds=2)
    done = weft.run("run", "--not-before", at.isoformat(), "--json", "--", "date", "+%s")
    shown = as_json(weft, "status", f"b{json.loads(done.stdout)['batch_id']}.j1")

    assert done.returncode == 0, done.stderr
    assert datetime.fromisoformat(shown["started_at"]) >= at
    assert datetime.fromisoformat(shown["not_before"]) == at


def test_options_of_submit_are_for_jobs_that_do_not_say_it(weft: Weft, tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text("jobs: [{name: now, not_before: 2000-01-01T00:00:00Z}, {name: later}]")
    batch = weft.run("submit", str(file), "--not-before", "+2h").stdout.decode().strip()
    later = weft.run("status", f"{batch}.j2").stdout.decode()

    assert weft.run("wait", f"{batch}.j1").returncode == 0
    assert "Not before" in later
    assert "ready" in later
    weft.run("cancel", batch)


def test_program_says_when_its_job_may_start(weft: Weft) -> None:
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        at = datetime.now(UTC) + timedelta(hours=2)
        job = bb.create_job(["true"], not_before=at, concurrency_key={"key": "db-x", "n": 2})
        batch = bb.submit()
        document = job.status()
        batch.cancel()

    assert datetime.fromisoformat(document["not_before"]) == at
    assert document["concurrency_key"] == {"key": "db-x", "n": 2}


def test_command_lines_with_one_key_take_turns(weft: Weft, tmp_path: Path) -> None:
    """A job that finds another one's directory would fail."""
    script = f"mkdir {tmp_path}/lock && date && rmdir {tmp_path}/lock"
    done = weft.run(
        "each", "--concurrency-key", "lock", "--", "sh", "-c", script, stdin=b"a\nb\nc\nd\n"
    )
    shown = weft.run("status", f"{as_json(weft, 'ls')[0]['id']}.j1").stdout.decode()

    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4
    assert "lock, 1 at a time" in shown
