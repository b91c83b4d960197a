"""When jobs may run, with a real driver and a real worker."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from e2e.conftest import Weft, as_json

pytestmark = pytest.mark.heavy


def test_job_starts_by_itself_when_its_time_comes(weft: Weft) -> None:
    at = datetime.now(UTC) + timedelta(seconds=2)
    done = weft.run("run", "--not-before", at.isoformat(), "--json", "--", "date", "+%s")
    shown = as_json(weft, "status", f"b{json.loads(done.stdout)['batch_id']}.j1")

    assert done.returncode == 0, done.stderr
    assert datetime.fromisoformat(shown["started_at"]) >= at
    assert datetime.fromisoformat(shown["not_before"]) == at


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


def test_job_is_stopped_at_its_deadline(weft: Weft) -> None:
    done = weft.run("run", "--deadline", "+1s", "--json", "--", "sleep", "50")
    document = json.loads(done.stdout)
    shown = weft.run("status", f"b{document['batch_id']}.j1").stdout.decode()

    assert done.returncode == 124
    assert (document["state"], document["reason"]) == ("error", "deadline")
    assert "deadline passed" in shown


def test_job_that_cannot_end_in_time_fails_before_it_starts(weft: Weft, tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text(
        "jobs:\n"
        "  - {name: held, not_before: +1h, deadline: +90m, timeout_s: 1h, command: [echo]}\n"
        "  - {name: late, not_before: +1h, deadline: +61m, timeout_s: 61m, command: [echo]}\n"
        "  - {name: child, parents: [late]}\n"
    )
    batch = weft.run("submit", str(file)).stdout.decode().strip()
    waited = weft.run("wait", f"{batch}.j3")
    failed = weft.run("jobs", batch, "reason = deadline and state = error", "--json")
    late = weft.run("status", f"{batch}.j2").stdout.decode()

    assert waited.returncode == 1
    assert [job["name"] for job in json.loads(failed.stdout)] == ["late"]
    assert "could not end by its deadline" in late
    assert as_json(weft, "status", f"{batch}.j1")["state"] == "ready"
    weft.run("cancel", batch)
