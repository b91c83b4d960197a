"""Signals and extensions, as a user sends them."""

import json
from pathlib import Path

import pytest

from e2e.conftest import Weft, as_json, until
from weft import Client
from weft.core.errors import NoTimeLimit

pytestmark = pytest.mark.heavy


def test_signal_and_more_time_reach_a_job(weft: Weft, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = f"trap 'exit 7' USR1; while :; do touch {ready}; sleep 0.05; done"
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        one = bb.create_job(["sh", "-c", script], timeout_s=600)
        batch = bb.submit()
        name = f"b{batch.id}.j1"
        until(ready.exists)
        until(lambda: one.status()["started_at"] is not None)
        extended = weft.run("extend", name, "--by", "10m", "--json")
        refused = weft.run("signal", name, "9")
        said = weft.run("signal", name, "USR1")
        ended = one.wait(timeout_s=60)
        late = weft.run("signal", name, "USR1")
        over = weft.run("extend", name, "--by", "1m")
    history = as_json(weft, "status", name)

    assert json.loads(extended.stdout)["timeout_s"] == 1200
    assert (refused.returncode, b"weft cancel" in refused.stderr) == (2, True)
    assert b"USR1 is on its way" in said.stderr + said.stdout
    assert (ended["exit_code"], history["state"]) == (7, "failed")
    assert (late.returncode, b"does not run" in late.stderr) == (4, True)
    assert (over.returncode, b"has ended" in over.stderr) == (4, True)


def test_job_without_a_time_limit_has_nothing_to_extend(weft: Weft) -> None:
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        one = bb.create_job(["true"], not_before="2100-01-01T00:00:00Z")
        bb.create_job(["true"], not_before="2100-01-01T00:00:00Z", timeout_s=1)
        batch = bb.submit()
        refused = weft.run("extend", f"b{batch.id}.j1", "--by", "1m")
        waits = weft.run("extend", f"b{batch.id}.j2", "--by", "1m")
        with pytest.raises(NoTimeLimit):
            one.extend(60)
        batch.cancel()

    assert (refused.returncode, b"has no time limit" in refused.stderr) == (4, True)
    assert b"may run for 61 s" in waits.stderr + waits.stdout


def test_messages_reach_a_job(weft: Weft, tmp_path: Path) -> None:
    script = (
        'until [ -e "$WEFT_MESSAGES" ]; do sleep 0.05; done; '
        'until [ "$(ls "$WEFT_MESSAGES" | wc -l)" = 3 ]; do sleep 0.05; done; '
        'cat "$WEFT_MESSAGES"/*'
    )
    (tmp_path / "two").write_text("zwei\n")
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        one = bb.create_job(["sh", "-c", script])
        bb.create_job(["true"], not_before="2100-01-01T00:00:00Z")
        batch = bb.submit()
        name = f"b{batch.id}.j1"
        until(lambda: one.status()["started_at"] is not None)
        said = [
            weft.run("message", name, "eins\n"),
            weft.run("message", name, f"@{tmp_path / 'two'}", "--json"),
            weft.run("message", name, "@-", stdin=b"drei\n"),
        ]
        ended = one.wait(timeout_s=60)
        refused = [
            weft.run("message", f"b{batch.id}.j2", "x"),
            weft.run("message", name, ""),
            weft.run("message", name, "@/does/not/exist"),
            weft.run("message", name, "@-", stdin=b"\xff"),
            weft.run("message", name, "@-", stdin=b"x" * (64 * 1024 + 1)),
            weft.run("message", f"b{batch.id}", "x"),
        ]
        output = one.log(stream="stdout")
        batch.cancel()

    assert [one.returncode for one in said] == [0, 0, 0]
    assert json.loads(said[1].stdout)["size_bytes"] == 5
    assert (ended["exit_code"], output) == (0, "eins\nzwei\ndrei\n")
    assert [one.returncode for one in refused] == [4, 2, 2, 2, 2, 2]
    assert b"Its state is" in refused[0].stderr
    assert b"message_bytes_max" in refused[4].stderr
