"""Retries that wait, with a real driver and a real worker."""

import json
from pathlib import Path

import pytest

from e2e.conftest import Weft, as_json, until
from weft import Client

pytestmark = pytest.mark.heavy


def once(tmp_path: Path, code: int) -> str:
    """Return a script that ends with this code the first time, and then well."""
    return f"[ -e {tmp_path}/tried ] || {{ touch {tmp_path}/tried; exit {code}; }}; date +%s"


def test_failed_job_is_tried_again_after_its_wait(weft: Weft, tmp_path: Path) -> None:
    done = weft.run(
        "run",
        "--retries",
        "1",
        "--retry-wait",
        "1s",
        "--json",
        "--",
        "sh",
        "-c",
        once(tmp_path, 3),
    )
    job = as_json(weft, "status", f"b{json.loads(done.stdout)['batch_id']}.j1")

    assert done.returncode == 0, done.stderr
    assert (job["state"], job["attempt"]) == ("success", 2)
    assert job["retry"] == {"policy": "constant", "wait_s": 1.0, "jitter": 0}
    assert 1000 <= job["times"]["blocked_ms"] < 60_000


def test_next_attempt_finds_the_checkpoint_of_the_last(weft: Weft) -> None:
    file = '"$WEFT_CHECKPOINT_DIR/n"'
    script = f"cat {file} || {{ echo kept > {file}; exit 3; }}"
    done = weft.run("run", "--retries", "1", "--", "sh", "-c", script)

    assert done.returncode == 0, done.stderr
    assert done.stdout == b"kept\n"
    (directory,) = (weft.home / "checkpoints").glob("*/kept")
    until(lambda: not list(directory.iterdir()))


def test_attempts_stay_readable_after_a_retry(weft: Weft, tmp_path: Path) -> None:
    """None is overwritten, and neither is what it wrote."""
    gate = tmp_path / "gate"
    script = f"echo attempt $WEFT_ATTEMPT_NO; [ -e {gate} ] || exit $((WEFT_ATTEMPT_NO + 2))"
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        bb.create_job(["sh", "-c", script], max_attempts=2)
        batch = bb.submit()
        batch.wait(timeout_s=60)
    name = f"b{batch.id}.j1"
    before = as_json(weft, "status", name)
    gate.touch()
    retried = weft.run("retry", name)
    weft.run("wait", name)
    after = as_json(weft, "status", name)
    said = [weft.run("logs", name, "--attempt", str(n)).stdout for n in (1, 2, 3)]

    assert retried.returncode == 0, retried.stderr
    assert [one["exit_code"] for one in after["attempts"]] == [3, 4, 0]
    assert after["attempts"][:2] == before["attempts"]
    assert [one for one in after["history"] if one in before["history"]] == before["history"]
    assert said == [b"attempt 1\n", b"attempt 2\n", b"attempt 3\n"]


def test_external_error_is_explained_and_can_be_cancelled(weft: Weft, tmp_path: Path) -> None:
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        one = bb.create_job(
            ["sh", "-c", "exit 75"], retry={"policy": "exponential"}, max_attempts=2
        )
        batch = bb.submit()
        while (job := one.status())["state"] != "blocked":
            pass
    why = weft.run("why", f"b{batch.id}.j1").stdout.decode()
    shown = weft.run("status", f"b{batch.id}.j1").stdout.decode()
    weft.run("cancel", f"b{batch.id}.j1")

    assert (job["exit_code"], job["reason"]) == (75, "blocked")
    assert "is tried again in" in why
    assert "attempt 1 reported an external error" in why
    assert "Next try" in shown
    assert as_json(weft, "status", f"b{batch.id}.j1")["state"] == "cancelled"


def test_job_sorts_its_exit_codes(weft: Weft, tmp_path: Path) -> None:
    script = ["sh", "-c", "exit $((WEFT_ATTEMPT_NO + 2))"]
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        one = bb.create_job(script, max_attempts=9, retry_on=["exit:3", "exit:4"])
        other = bb.create_job(["sh", "-c", "exit 66"], external_errors=[66])
        batch = bb.submit()
        ended = one.wait(timeout_s=60)
        until(lambda: other.status()["state"] == "blocked")
        waits = other.status()
        batch.cancel()

    assert (ended["state"], ended["exit_code"], ended["attempt"]) == ("failed", 5, 3)
    assert (waits["reason"], waits["external_errors"]) == ("blocked", [66])


def test_failed_jobs_are_retried_by_hand(weft: Weft, tmp_path: Path) -> None:
    """The batch runs again, with its child, and completes again."""
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        one = bb.create_job(["sh", "-c", once(tmp_path, 3)])
        bb.create_job(["true"], parents=[one])
        bb.job_tree().create_path("/four").create_job(["sh", "-c", "exit 4"])
        batch = bb.submit()
        group = batch.job_tree().get_path("/four")
        first = batch.wait()
        done = weft.run("retry", f"b{batch.id}", "--q", "exit_code = 3")
        second = batch.wait()
        refused = weft.run("retry", f"b{batch.id}.j1")
        wrong = weft.run("retry", f"b{batch.id}.j1", "--q", "x", "--json")
        (cause,) = [one["cause"] for one in batch.list_causes()]
        part = weft.run("retry", f"b{batch.id}.j3", "--cause", cause, "--json")
        operation = as_json(weft, "retry", f"b{batch.id}", "--cause", cause)
        third = batch.wait()
        n_retried = batch.get_job(3).retry(), batch.wait()["n_failed"], batch.retry(cause=cause)
        batch.wait()
        n_of_group = group.retry("exit_code = 3"), group.retry()
        batch.wait()
        attempts = batch.get_job(3).attempts()

    assert (first["n_failed"], first["n_cancelled"]) == (2, 1)
    assert (done.returncode, done.stderr) == (0, f"weft: b{batch.id}: 2 jobs run again\n".encode())
    assert (second["n_succeeded"], second["n_failed"]) == (2, 1)
    assert (wrong.returncode, json.loads(wrong.stderr)["code"]) == (2, "CLI.QUERY_OF_JOB")
    assert (part.returncode, json.loads(part.stderr)["code"]) == (2, "CLI.CAUSE_OF_PART")
    assert (refused.returncode, b"has not failed" in refused.stderr) == (4, True)
    assert (operation["state"], operation["result"]) == ("success", {"n_retried": 1})
    assert third["n_failed"] == 1
    assert (n_retried, n_of_group) == ((1, 1, 1), (0, 1))
    assert [one["attempt"] for one in attempts] == [1, 2, 3, 4, 5]
    weft.told("audit")


def test_batch_is_resubmitted(weft: Weft) -> None:
    """What failed runs in a new batch, with another environment; its child after it."""
    with Client(home=weft.home) as client:
        bb = client.create_batch(name="old")
        good = bb.create_job(["true"])
        bad = bb.create_job(["sh", "-c", 'test -n "$GIVEN"'], parents=[good])
        bb.create_job(["true"], parents=[bad])
        batch = bb.submit()
        first = batch.wait()
        done = weft.run("resubmit", f"b{batch.id}", "--failed", "--env", "GIVEN=1", "k=v")
        new = client.get_batch(int(done.stdout.decode().strip().removeprefix("b")))
        second = new.wait()
        shown = weft.run("status", f"b{new.id}").stdout.decode()
        refused = weft.run("resubmit", f"b{new.id}", "--failed")
        operation = as_json(weft, "resubmit", f"b{batch.id}")
        whole = batch.resubmit(changes={"name": "third", "priority": 3})
        third = whole.wait()

    assert (first["n_succeeded"], first["n_failed"], first["n_cancelled"]) == (1, 1, 1)
    assert done.stderr == f"weft: b{batch.id}: 2 jobs resubmitted\n".encode()
    assert (second["n_succeeded"], second["n_jobs"], second["name"]) == (2, 2, "old")
    assert (second["attributes"], second["resubmitted_from"]) == ({"k": "v"}, batch.id)
    assert f"Made from b{batch.id}" in " ".join(shown.split())
    assert (refused.returncode, b"has nothing to resubmit" in refused.stderr) == (4, True)
    assert operation["result"]["n_jobs"] == 3
    assert (third["name"], third["n_failed"], third["n_jobs"]) == ("third", 1, 3)
    weft.told("audit")


def test_list_says_that_batches_are_hidden(weft: Weft) -> None:
    with Client(home=weft.home) as client:
        batch = client.create_batch(name="out of sight").submit()
        batch.hide()
    found = [
        weft.run("ls", "--name", "out of sight", *more).stderr.decode()
        for more in ((), ("--all",))
    ]
    nothing = weft.run("ls", "--name", "nowhere").stderr.decode()

    assert found == ["weft: only hidden batches match; --all shows them\n", ""]
    assert nothing == "weft: no batch matches\n"


def test_retry_asks_for_more(weft: Weft, tmp_path: Path) -> None:
    with Client(home=weft.home) as client:
        bb = client.create_batch(name="more")
        rule = {"on": ["exit:3"], "memory": "x2", "up_to": "96Mi"}
        bb.create_job(
            ["sh", "-c", once(tmp_path, 3)],
            resources={"memory": "64Mi"},
            max_attempts=2,
            retry_with=[rule],
        )
        batch = bb.submit()
        batch.wait()
    job = as_json(weft, "status", f"b{batch.id}.j1")
    shown = weft.run("status", f"b{batch.id}.j1").stdout.decode()

    assert (job["state"], job["resources"]["memory"]) == ("success", 96 << 20)
    assert job["retry_with"] == [rule]
    assert "more: 96Mi of memory instead of 64Mi" in shown


def test_exit_code_may_be_a_success_with_a_subtype(weft: Weft) -> None:
    """`weft run` ends well, and the job says how."""
    option = ("--exit-codes", "200-207=success: no product")
    done = weft.run("run", *option, "--json", "--", "sh", "-c", "exit 203")
    name = f"b{json.loads(done.stdout)['batch_id']}.j1"
    job = as_json(weft, "status", name)

    assert done.returncode == 0, done.stderr
    assert (job["state"], job["exit_code"], job["subtype"]) == ("success", 203, "no product")
    assert b"no product" in weft.run("status", name).stdout
