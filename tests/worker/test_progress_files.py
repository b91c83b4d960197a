"""How far jobs say that they are, and what they put in the file's place."""

import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from contexts import async_fixture_of
from weft.core.notes import Note
from weft.core.progress_file import (
    PROGRESS_BYTES_MAX,
    TEXT_CHARS_MAX,
    Progress,
    WrongProgress,
    checked_progress,
    read_progress,
    write_progress,
)
from weft.core.text.texts import harmless
from weft.ports.runner import Ended
from weft.worker.agent.job_files import JobFiles
from worker.fake_store import FakeStore
from worker.worker_process import Worker, sh

worker = async_fixture_of(
    lambda short_path: Worker(short_path, FakeStore()).running(is_started=False)
)


def told(worker: Worker) -> list[tuple[int, float, str]]:
    return [(one.job_id, one.percent, one.text) for part in worker.store.progress for one in part]


async def test_progress_is_told_with_the_heartbeats_and_before_the_end(worker: Worker) -> None:
    """A job that says the same again, or nothing, is not told."""
    worker.heartbeat_s = 0.05
    await worker.start()
    gate = worker.logs / "gate"
    wait = f"while [ ! -e {gate} ]; do echo 40 epoch 4 > $WEFT_PROGRESS; sleep 0.01; done"
    worker.store.submit(sh(f"{wait}; echo 100 > $WEFT_PROGRESS; exit 3"), sh("true"))
    await worker.store.until_progress()
    assert worker.store.jobs[0].ends == []
    gate.touch()
    reports = {one.job_id: one for one in await worker.store.until(2)}
    await worker.stop()

    assert told(worker) == [(1, 40, "epoch 4"), (1, 100, "")]
    assert reports[1].exit_code == 3
    assert list((worker.files.scratch / "progress").iterdir()) == []


async def test_only_the_newest_of_many_words_is_told(worker: Worker) -> None:
    await worker.start()
    many = "n=0; while [ $n -lt 1000 ]; do n=$((n+1)); echo 7 $n > $WEFT_PROGRESS; done"
    worker.store.submit(sh(many))
    await worker.store.until(1)

    assert told(worker) == [(1, 7, "1000")]


async def test_empty_file_does_not_keep_an_end(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In sandboxes each job has a file, of which hardly any is written."""
    takes = list[tuple[int, bool]]()
    take = JobFiles.take

    def note(self: JobFiles, ended: Ended, *, anyway: bool) -> bool:
        takes.append((ended.key.job_id, anyway))
        return take(self, ended, anyway=anyway)

    monkeypatch.setattr(JobFiles, "take", note)
    await worker.start()
    worker.store.submit(
        sh(": > $WEFT_PROGRESS; : > $WEFT_PRODUCTS"), sh("echo 4 > $WEFT_PROGRESS")
    )
    await worker.store.until(2)

    assert sorted(takes) == [(1, False), (2, True)]


WRONG = [
    "echo -1 > $WEFT_PROGRESS",
    "echo 100.1 > $WEFT_PROGRESS",
    "echo nan > $WEFT_PROGRESS",
    "echo snow > $WEFT_PROGRESS",
    "printf 40 > $WEFT_PROGRESS",
    ": > $WEFT_PROGRESS",
    "ln -s /etc/passwd $WEFT_PROGRESS",
    "mkfifo $WEFT_PROGRESS",
    "mkdir $WEFT_PROGRESS",
    "echo 5 > $WEFT_PROGRESS-of-another",
]


async def test_what_is_no_progress_harms_nobody(worker: Worker) -> None:
    """The others beside it are told, a text of 10 MB with its beginning."""
    long = "head -c 10000000 /dev/zero | tr '\\0' x >> $WEFT_PROGRESS"
    await worker.start()
    worker.store.submit(*map(sh, WRONG), sh(f"printf '50 ' > $WEFT_PROGRESS; {long}"))
    reports = await worker.store.until(len(WRONG) + 1)

    assert {one.exit_code for one in reports} == {0}
    assert told(worker) == [(len(WRONG) + 1, 50, "x" * TEXT_CHARS_MAX)]


BAD_NOTES = (
    "ln -s /etc/passwd $WEFT_NOTES/a.md",
    "mkfifo $WEFT_NOTES/b.md",
    "mkdir $WEFT_NOTES/c.md",
    "head -c 9000000 /dev/zero > $WEFT_NOTES/d.md",
    "echo x > $WEFT_NOTES/e.exe",
    "echo javascript:x > $WEFT_NOTES/f.url",
    "echo no > $WEFT_NOTES/g.png",
    "echo x > $WEFT_NOTES/mistaken.md",
)


async def test_notes_are_told_once_and_what_is_none_harms_nobody(worker: Worker) -> None:
    """Also by the next agent; the title is harmless, whatever the name of the file is."""
    await worker.start()
    odd = "echo y > $(printf '%s/%b.txt' $WEFT_NOTES 'a\\033b\\377%2Fc')"
    lines = ["mkdir $WEFT_NOTES", *BAD_NOTES, odd, "echo x > $WEFT_NOTES/t.csv"]
    worker.store.submit(sh("; ".join(lines)), sh("ln -s /etc $WEFT_NOTES"), sh("true"))
    reports = await worker.store.until(3)

    assert {one.exit_code for one in reports} == {0}
    assert sorted(worker.store.notes) == [
        (1, Note("a\ufffdb?/c", "text", b"y\n")),
        (1, Note("t", "table", b"x\n")),
    ]


@given(st.floats() | st.integers() | st.sampled_from((10**400, -(10**5000))), st.text())
def test_what_is_written_is_read(percent: float, text: str) -> None:
    """Or refused when it is written."""
    try:
        progress = checked_progress(percent, text)
    except WrongProgress:
        assert not 0 <= percent <= 100
        return
    data = write_progress(progress)
    assert len(data) <= PROGRESS_BYTES_MAX
    assert read_progress(data).text == progress.text.strip()
    assert math.isclose(read_progress(data).percent, percent, abs_tol=0.051)


@given(st.binary() | st.builds(lambda text: f"4 {text}\n".encode(), st.text()))
def test_whatever_is_read_is_short_and_harmless(data: bytes) -> None:
    try:
        progress = read_progress(data)
    except WrongProgress:
        return
    assert 0 <= progress.percent <= 100
    assert len(progress.text) <= TEXT_CHARS_MAX
    assert progress.text == harmless(progress.text)
    assert "\n" not in progress.text


def test_functions_say_how_far_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a job, and where a job cannot, they go on."""
    file = tmp_path / "p"
    monkeypatch.setenv("WEFT_PROGRESS", os.fspath(file))
    weft.progress(0.4, "epoch\n4")
    assert read_progress(file.read_bytes()) == Progress(40, "epoch 4")
    monkeypatch.setenv("WEFT_PROGRESS", "/dev/full")
    weft.progress(1)
    monkeypatch.delenv("WEFT_PROGRESS")
    weft.progress(0.5)
    for wrong in (-0.1, 40, math.nan):
        with pytest.raises(ValueError, match="from 0 to 100"):
            weft.progress(wrong)
    with pytest.raises(TypeError, match="'x' is text"):
        weft.progress("x")  # type: ignore[arg-type]
