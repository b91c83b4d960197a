"""`wait()` where a person looks: the bar, and Ctrl-C."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.conftest import Weft, kill_api
from e2e.terminal import on_terminal, script_of
from weft import Batch, Client

pytestmark = pytest.mark.slow
WAIT = "from weft import Client; b = Client().get_batch({}); print(b.wait({})['state'])"
WAIT_FOR_JOB = """
from weft import Client, aio
class Job(aio.Job):
    async def status(self):
        print("looks", flush=True)
        return await super().status()
job = Client().get_batch({}).get_job(2)
job._async.__class__ = Job
job.wait()
"""
PROMPT = "[c]ancel it, [w]ait on"
client = fixture_of(lambda weft: Client(home=weft.home))


@pytest.fixture
def endless(client: Client) -> Iterator[Batch]:
    """Give a batch whose second job does not end by itself."""
    bb = client.create_batch()
    bb.create_job()
    bb.create_job(["sleep", "4321"])
    b = bb.submit()
    yield b
    b.cancel()


@pytest.mark.parametrize("of_job", [False, True])
def test_ctrl_c_offers_to_cancel(weft: Weft, endless: Batch, *, of_job: bool) -> None:
    script = WAIT_FOR_JOB.format(endless.id) if of_job else WAIT.format(endless.id, "")
    with on_terminal(script, weft.environment()) as terminal:
        terminal.until("looks" if of_job else "1/2")
        terminal.interrupt()
        terminal.until(f"b{endless.id}.j2 is not complete: {PROMPT}" if of_job else PROMPT)
        terminal.type("c\n")

        assert terminal.finish() != 0
    assert "KeyboardInterrupt" in terminal.shown
    assert endless.get_job(2).wait()["state"] == "cancelled"
    assert endless.status()["cancelled"] is not of_job


@pytest.mark.parametrize("waits_on", [True, False])
def test_ctrl_c_and_wait_on_or_a_second_one(weft: Weft, endless: Batch, *, waits_on: bool) -> None:
    with on_terminal(WAIT.format(endless.id, ""), weft.environment()) as terminal:
        terminal.until("1/2")
        terminal.interrupt()
        terminal.until(PROMPT)
        if waits_on:
            terminal.type("w\n")
            terminal.until("1/2")
            endless.cancel()
        else:
            terminal.interrupt()

        assert (terminal.finish() == 0) is waits_on
    assert endless.status()["cancelled"] is waits_on
    assert terminal.shown.rstrip().endswith("cancelled") is waits_on


def test_the_bar_stays_on_one_line(weft: Weft, client: Client) -> None:
    bb = client.create_batch()
    for number in range(30):
        bb.create_job(["sh", "-c", f"exit {number % 3}"])
    b = bb.submit()
    with on_terminal(WAIT.format(b.id, ""), weft.environment()) as terminal:
        assert terminal.finish() == 0

    lines = [line for line in terminal.shown.split("\n") if line.strip()]
    assert len(lines) == 2
    assert "30/30" in lines[0].split("\r")[-2]
    assert "20 failed" in terminal.shown
    assert lines[1].strip().endswith("failure")


@pytest.mark.parametrize(
    ("progress", "told"), [("", ""), ("progress=True", "3/3"), ("progress=False", "")]
)
def test_nothing_is_drawn_where_nobody_looks_unless_asked(
    weft: Weft, client: Client, progress: str, told: str
) -> None:
    bb = client.create_batch()
    for _ in range(3):
        bb.create_job()
    b = bb.submit()
    done = subprocess.run(
        [sys.executable, "-c", WAIT.format(b.id, progress)],
        check=True,
        capture_output=True,
        text=True,
        env=weft.environment(),
        timeout=60,
    )

    assert done.stdout == "success\n"
    assert (told in done.stderr) if told else done.stderr == ""
    assert "\x1b" not in done.stderr


def test_a_wait_goes_on_when_the_api_was_killed(
    weft: Weft, client: Client, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    bb = client.create_batch()
    job = bb.create_job(["cat", go])
    b = bb.submit()
    with ThreadPoolExecutor() as threads:
        waits = [threads.submit(one.wait) for one in (b, job, b.job_tree().get_path("/"))]
        kill_api(weft)
        with go.open("w") as told:
            told.write("gone on\n")

        assert [done.result(60)["state"] for done in waits] == ["success"] * 3
    assert job.log() == "gone on\n"


def test_ctrl_c_in_the_command_wait_says_that_jobs_run_on(weft: Weft, endless: Batch) -> None:
    with on_terminal(script_of("wait", f"b{endless.id}"), weft.environment()) as terminal:
        terminal.until("\x1b[2K")  # it is drawing the bar
        terminal.interrupt()
        terminal.until(f"b{endless.id} runs on; `weft cancel b{endless.id}` ends it")
        terminal.finish()

    assert not endless.status()["complete"]


def test_ctrl_c_in_submit_says_that_jobs_run_on(weft: Weft, client: Client) -> None:
    document = b'{"jobs": [{"command": ["sleep", "4321"]}]}'
    with weft.started("submit", "-", "--wait", stdin=subprocess.PIPE) as process:
        process.stdin.write(document)
        process.stdin.close()
        name = process.stdout.readline().decode().strip()
        process.send_signal(signal.SIGINT)
        told = process.stderr.read().decode()

    assert f"weft: {name} runs on; `weft cancel {name}` ends it" in told
    b = client.get_batch(int(name.removeprefix("b")))
    assert not b.status()["complete"]
    b.cancel()
