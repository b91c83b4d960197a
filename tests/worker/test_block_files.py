"""What jobs say that they wait for, and what they put in the file's place."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.core.ends.conditions import Ask, Blocked, WrongAsk
from weft.core.states import AttemptKey, Reason
from weft.plugins.executors.process import ProcessExecutor
from weft.worker.agent.attempt_files import BlockFiles
from worker.fake_store import FakeStore
from worker.worker_process import Worker, sh

KEY, OTHER = AttemptKey(1, 1, 1), AttemptKey(1, 2, 1)
GOOD = '{"condition": "quota", "tester": "tcp", "parameters": {"host": "db", "port": 1}}'
ASK = Ask("quota", "tcp", {"host": "db", "port": "1"})


async def test_a_job_says_what_it_waits_for(worker: Worker) -> None:
    """The first end is told alone, the second perhaps with a claim; each after what it asks."""
    script = f"echo '{GOOD}' > $WEFT_BLOCK_FILE; exit 75"
    worker.store.submit(sh(script), sh("exit 75"))
    reports = {one.job_id: one for one in await worker.store.until(2)}

    assert worker.store.asks == {1: ASK}
    assert [reports[n].exit_code for n in (1, 2)] == [75, 75]
    assert [reports[n].message for n in (1, 2)] == ["", ""]


async def test_an_executor_that_cannot_start_it_says_what_it_waits_for(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise Blocked(ASK.condition, ASK.tester, ASK.parameters, message="no licence")

    monkeypatch.setattr(ProcessExecutor, "start_of", refuse)
    worker = Worker(short_path, FakeStore())
    await worker.start()
    worker.store.submit(sh("exit 0"))
    (report,) = await worker.store.until(1)
    await worker.end()

    assert worker.store.asks == {1: ASK}
    assert (report.reason, report.message) == (Reason.BLOCKED, "no licence")
    assert report.start_age_us is None


async def test_a_field_that_nobody_knows_is_told_and_the_rest_holds(worker: Worker) -> None:
    more = json.dumps({**json.loads(GOOD), "policy": "wait"})
    worker.store.submit(sh(f"echo '{more}' > $WEFT_BLOCK_FILE; exit 75"))
    (report,) = await worker.store.until(1)
    await worker.stop()

    assert worker.store.asks == {1: ASK}
    assert report.message == (
        "a field of the block file is ignored: "
        "'policy' is not one of condition, tester, parameters"
    )


async def test_other_ends_ask_for_nothing_and_always_is_the_clock(worker: Worker) -> None:
    always = '{"tester": "always"}'
    worker.store.submit(
        sh(f"echo '{GOOD}' > $WEFT_BLOCK_FILE; exit 1"),
        sh(f"echo '{always}' > $WEFT_BLOCK_FILE; exit 75"),
    )
    await worker.store.until(2)
    await worker.stop()

    assert worker.store.asks == {}
    assert list((worker.files.scratch / "blocks").iterdir()) == []


async def test_a_wrong_file_is_told_in_the_message(worker: Worker) -> None:
    worker.store.submit(sh("mkfifo $WEFT_BLOCK_FILE; exit 75"))
    (report,) = await worker.store.until(1)

    assert report.exit_code == 75
    assert report.message == "the block file is ignored: it is not a plain file"
    assert worker.store.asks == {}


async def test_what_it_waits_for_outlives_the_agent(worker: Worker) -> None:
    gate = worker.logs / "gate"
    waits = f"while [ ! -e {gate} ]; do sleep 0.01; done"
    worker.store.submit(sh(f"{waits}; echo '{GOOD}' > $WEFT_BLOCK_FILE; exit 75"))
    await worker.store.until_started(1)
    await worker.crash()
    gate.touch()
    await worker.start()
    await worker.store.until(1)

    assert worker.store.asks == {1: ASK}


def link(path: Path) -> None:
    (path.parent / "elsewhere").write_text(GOOD)
    path.symlink_to(path.parent / "elsewhere")


@pytest.mark.parametrize(
    ("put", "why"),
    [
        (link, "cannot be read"),
        (os.mkfifo, "not a plain file"),
        (Path.mkdir, "cannot be read|not a plain file"),
        (lambda path: path.symlink_to("/dev/zero"), "cannot be read"),
        (lambda path: path.write_bytes(b" " * (1 << 20)), "more than 16 KiB"),
        (lambda path: path.write_bytes(b"\xff\x00"), "not text"),
        (lambda path: path.touch(), "not JSON"),
        (lambda path: (path.touch(), path.chmod(0o000)), "cannot be read|not JSON"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, put: Callable[[Path], object], why: str) -> None:
    put(tmp_path / KEY.name)
    with pytest.raises(WrongAsk, match=why):
        BlockFiles(tmp_path).read(KEY)


def test_what_others_left_is_removed(tmp_path: Path) -> None:
    files = BlockFiles(tmp_path / "new" / "blocks")
    files.prepare([])
    for key in (KEY, OTHER):
        (tmp_path / "new" / "blocks" / key.name).write_text(GOOD)
    files.prepare([OTHER])

    assert files.read(KEY) == (None, "")
    assert files.read(OTHER) == (ASK, "")
    files.remove([OTHER])
    assert files.read(OTHER) == (None, "")
