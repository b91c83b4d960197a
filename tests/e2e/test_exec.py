"""`weft exec`, as a user runs it beside a job."""

import json
import signal
from pathlib import Path

import pytest

from e2e.conftest import Weft, kill_api, until
from weft import Client
from weft.client.http.exec_calls import ExecLost
from worker.spawner_process import marked

pytestmark = pytest.mark.heavy


def test_command_runs_beside_a_job(weft: Weft, tmp_path: Path) -> None:
    data = bytes(range(256)) * 20_000
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        job = bb.create_job(["sleep", "1000"], env={"X": "y"})
        batch = bb.submit()
        until(lambda: job.status()["started_at"] is not None)
        name = f"b{batch.id}.j1"
        copied = weft.run("exec", name, "--", "sh", "-c", "cat; echo $X >&2; exit 3", stdin=data)
        unread = job.exec(["true"], stdin=data)
        large = job.exec(["head", "-c", "100000000", "/dev/zero"])
        begun = tmp_path / "begun"
        words = ("exec", "-n", name, "--", "sh", "-c", f"touch {begun}; sleep 1000")
        for number in (signal.SIGINT, signal.SIGKILL):
            with weft.started(*words) as running:
                until(begun.exists)
                running.send_signal(number)
                running.wait(60)
            assert running.returncode == (130 if number == signal.SIGINT else -number)
            until(lambda: not marked("WEFT_EXEC="))
            begun.unlink()
        trail = json.loads(weft.run("trail", "--json").stdout)
        with weft.started(*words) as running:
            until(begun.exists)
            kill_api(weft)
            running.wait(60)
        assert running.returncode == ExecLost.exit_code
        until(lambda: not marked("WEFT_EXEC="))
        batch.cancel()  # by the next api: other tests need it

    assert (copied.stdout, copied.stderr, copied.returncode) == (data, b"y\n", 3)
    assert (unread.exit_code, len(large.stdout)) == (0, 100_000_000)
    assert f"/v1/batches/{batch.id}/jobs/1/exec true" in {one["path"] for one in trail}
