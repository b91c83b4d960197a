"""A process that hangs and ignores SIGTERM: it is killed, and its job runs again."""

import json
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.conftest import Weft, as_json, until, weft_up

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
SETTINGS = {"WEFT_HEARTBEAT_S": "5", "WEFT_GRACE_S": "0.5", "WEFT_LOST_AFTER_S": "20"}
QUEUE = """
[[queue]]
name = "watched"
priority = 1

[queue.monitor]
executing_s = 1
rounds = 1
"""
own = fixture_of(lambda tmp_path: weft_up(tmp_path / "home", **SETTINGS))


def test_stuck_process_is_killed_and_its_job_ends_after_its_rounds(
    own: Weft, tmp_path: Path
) -> None:
    file, pids = tmp_path / "queues.toml", tmp_path / "pids"
    file.write_text(QUEUE.replace("= 1\nrounds", "= 0\nrounds"))
    wrong = own.run("queue", "apply", str(file), "--yes")
    file.write_text(QUEUE)
    applied = own.run("queue", "apply", str(file), "--yes")
    mark = f"weft-monitor-{tmp_path.name}"
    script = f"trap '' TERM; echo $WEFT_ATTEMPT_NO >> {pids}; echo hangs; sleep 600.1 & "
    done = own.run(
        "run",
        "--queue",
        "watched",
        "--json",
        "--",
        "sh",
        "-c",
        f"{script} while :; do sleep 1; done # {mark}",
        timeout_s=120,
    )
    job = f"b{json.loads(done.stdout)['batch_id']}.j1"
    document = as_json(own, "status", job)
    status = own.run("status", job).stdout.decode()
    log = own.run("logs", job).stdout.decode()
    why = own.run("why", job).stdout.decode()
    until(lambda: not running(mark))

    assert f"{file}:7" in wrong.stderr.decode(), wrong.stderr.decode()
    assert b"expected more than 0" in wrong.stderr
    assert applied.returncode == 0, applied.stderr.decode()
    assert pids.read_text() == "1\n2\n"
    assert (document["state"], document["reason"], document["attempt"]) == ("error", "overdue", 2)
    assert "phase executing took longer than 1 s; was stopped 1 times before" in status
    assert "beyond a limit of its queue" in why
    assert "hangs" in log
    own.told("audit")


def running(mark: str) -> list[str]:
    """Return the processes whose command lines have this mark."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = process.read_bytes()
        except OSError:  # it has ended
            continue
        if mark.encode() in line:
            found.append(process.parent.name)
    return found
