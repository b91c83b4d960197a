"""Files in which jobs say something or are told it, and what they put in the place of these."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.core.ends.conditions import Ask, Blocked, WrongAsk
from weft.core.states import AttemptKey, Reason
from weft.plugins.executors.process import ProcessExecutor
from weft.wire.documents.files import FileInput
from weft.worker.agent.attempt_files import BlockFiles, MessageFiles
from weft.worker.trees import TreeRemovals, remove_tree
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


@pytest.mark.parametrize(
    ("puts", "asks", "why"),
    [
        (f"""echo '{GOOD[:-1]}, "policy": 1}}' >""", {1: ASK}, "a field of the block file is"),
        ("mkfifo", {}, "the block file is ignored: it cannot be read: it is not a plain file"),
    ],
)
async def test_what_is_ignored_is_told(worker: Worker, puts: str, asks: object, why: str) -> None:
    worker.store.submit(sh(f"{puts} $WEFT_BLOCK_FILE; exit 75"))
    (report,) = await worker.store.until(1)
    await worker.stop()

    assert (report.exit_code, worker.store.asks) == (75, asks)
    assert report.message.startswith(why)


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


async def test_what_it_waits_for_outlives_the_agent(worker: Worker) -> None:
    gate = worker.logs / "gate"
    waits = f"while [ ! -e {gate} ]; do sleep 0.01; done"
    await worker.begin(sh(f"{waits}; echo '{GOOD}' > $WEFT_BLOCK_FILE; exit 75"))
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
    before = {*Path("/proc/self/fd").iterdir()}
    with pytest.raises(WrongAsk, match=why):
        BlockFiles(tmp_path).read(KEY)
    assert {*Path("/proc/self/fd").iterdir()} == before


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


FSC = """echo '{"type": "FSC"}' >> $WEFT_PRODUCTS"""


async def test_products_are_recorded_before_the_end(worker: Worker) -> None:
    """Also with an exit code, which a lifecycle may call a success; a job without names none."""
    worker.store.submit(sh(f"{FSC}; {FSC}"), sh(f"{FSC}; exit 3"), sh("true"))
    reports = {one.job_id: one for one in await worker.store.until(3)}
    await worker.stop()

    assert worker.store.products == [({"type": "FSC"}, None)] * 3
    assert [reports[n].exit_code for n in (1, 2, 3)] == [0, 3, 0]
    assert list((worker.files.scratch / "products").iterdir()) == []


async def test_products_name_the_files_that_their_job_got(worker: Worker) -> None:
    inputs = (FileInput(from_="weft://j9/a", optional=True),)
    worker.store.submit(sh(FSC, inputs=inputs, requires=("files",)))
    await worker.store.until(1)

    got = [{"from": "weft://j9/a", "optional": True}]
    assert worker.store.products == [({"type": "FSC"}, got)]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo snow > $WEFT_PRODUCTS", "line 1 is no JSON object"),
        ("ln -s /etc/passwd $WEFT_PRODUCTS", "Too many levels of symbolic links"),
        ("mkfifo $WEFT_PRODUCTS", "not a plain file"),
        ("mkdir $WEFT_PRODUCTS", "not a plain file"),
    ],
)
async def test_what_cannot_be_kept_fails_the_job(worker: Worker, script: str, why: str) -> None:
    worker.store.submit(sh(script))
    (report,) = await worker.store.until(1)

    assert report.reason == Reason.FILES
    assert any(part in report.message for part in why.split("|"))
    assert worker.store.products == []


async def test_products_outlive_the_agent(worker: Worker) -> None:
    gate = worker.logs / "gate"
    await worker.begin(sh(f"while [ ! -e {gate} ]; do sleep 0.01; done; {FSC}"))
    await worker.crash()
    gate.touch()
    await worker.start()
    await worker.store.until(1)

    assert worker.store.products == [({"type": "FSC"}, None)]


def texts(directory: Path) -> list[str]:
    return [path.read_text() for path in sorted(directory.rglob("*")) if path.is_file()]


def test_repeated_message_is_one_file(tmp_path: Path) -> None:
    files = MessageFiles(tmp_path)
    said = [files.add(KEY, number, text) for number, text in ((99, "a"), (100, "b"), (100, "b"))]

    assert said == ["", "", ""]
    assert texts(tmp_path) == ["a", "b"]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / KEY.name).iterdir()} == {0o600}


@pytest.mark.parametrize(
    "put",
    [
        lambda path: path.touch(),
        lambda path: path.symlink_to(path.parent / "elsewhere"),
        lambda path: (path.mkdir(), (path / "000000000005").mkdir()),
        lambda path: (path.mkdir(), (path / ".unfinished").mkdir()),
    ],
)
def test_what_is_in_the_way_is_told(tmp_path: Path, put: Callable[[Path], object]) -> None:
    """Nothing is written elsewhere, and what the job made is removed."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    put(tmp_path / KEY.name)
    files = MessageFiles(tmp_path)
    said = files.add(KEY, 5, "x")
    files.remove([KEY])
    files.wait()

    assert said.startswith("it cannot be written: ")
    assert texts(tmp_path) == []
    assert list(tmp_path.iterdir()) == [elsewhere]


def test_links_in_the_directory_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept")
    files = MessageFiles(tmp_path / "messages")
    files.prepare([])
    place = tmp_path / "messages" / KEY.name
    place.mkdir()
    for name in (".unfinished", "000000000005"):
        (place / name).symlink_to(outside)
    said = files.add(KEY, 5, "x")
    found = texts(place)
    files.remove([KEY])
    files.wait()

    assert (said, found, outside.read_text()) == ("", ["x"], "kept")


def test_messages_that_others_left_are_removed(tmp_path: Path) -> None:
    """And what goes on is known, so that it is removed at its end."""
    directory = tmp_path / "new" / "messages"
    MessageFiles(directory).prepare([])
    for key in (KEY, OTHER):
        MessageFiles(directory).add(key, 1, key.name)
    files = MessageFiles(directory)
    files.prepare([OTHER])
    kept = [path.name for path in directory.iterdir()]
    files.remove([OTHER])
    files.wait()

    assert kept == [OTHER.name]
    assert list(directory.iterdir()) == []


LEVELS = 1500
"""More than Python has calls."""


def make_deep(path: Path) -> None:
    here = os.open(path.parent, os.O_RDONLY)
    for name in [path.name] + ["d"] * LEVELS:
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def test_deep_tree_is_removed(tmp_path: Path) -> None:
    make_deep(tmp_path / "deep")
    remove_tree(tmp_path / "deep")

    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="rm: "):
        remove_tree(tmp_path / ("x" * 300))


@pytest.mark.heavy
def test_deep_tree_in_place_of_messages_is_removed(tmp_path: Path) -> None:
    files, key = MessageFiles(tmp_path), AttemptKey(1, 1, 1)
    files.add(key, 1, "x")
    make_deep(tmp_path / key.name / "deep")
    files.remove([key])
    files.wait()

    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_what_they_name(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "link").symlink_to("outside")
    TreeRemovals().remove(tmp_path / "link")

    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
