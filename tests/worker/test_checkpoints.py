"""What jobs keep between their attempts: the spawner's directories, and their removal."""

import asyncio
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from weft.core.states import AttemptKey
from weft.worker.spawner.scratch import Checkpoints
from worker.spawner_process import SpawnerProcess, process
from worker.worker_process import Worker, sh

ONE, OTHER, AGAIN = AttemptKey(7, 1, 1), AttemptKey(7, 2, 1), AttemptKey(7, 1, 2)
KEY_2 = AttemptKey(1, 1, 2)
LOOK = 'ls "$WEFT_CHECKPOINT_DIR"'
WRITE = 'touch "$WEFT_CHECKPOINT_DIR/made"'


def kept(root: Path) -> set[str]:
    return {entry.name for entry in (root / "kept").iterdir()}


def test_next_attempt_finds_what_was_left(tmp_path: Path) -> None:
    checkpoints = Checkpoints(str(tmp_path), "w")
    first = checkpoints.take(ONE)
    (Path(first) / "made").touch()

    assert checkpoints.keep(ONE, first)
    assert (Path(checkpoints.take(AGAIN)) / "made").exists()
    assert list(Path(checkpoints.take(OTHER)).iterdir()) == []


def test_directory_is_used_again_only_if_nothing_was_written(tmp_path: Path) -> None:
    """Also not by a process that outlived its attempt."""
    checkpoints = Checkpoints(str(tmp_path), "w")
    first, second = checkpoints.take(ONE), checkpoints.take(OTHER)
    for key, path in ((ONE, first), (OTHER, second)):
        assert not checkpoints.keep(key, path)
    (Path(second) / "late").touch()
    checkpoints.give_back(ONE, first)
    checkpoints.give_back(OTHER, second)

    assert checkpoints.take(AttemptKey(7, 2, 2)) == str(tmp_path / "kept" / "b7.j2")
    assert kept(tmp_path) == {"b7.j2"}
    assert checkpoints.take(AttemptKey(7, 3, 1)) == first


def test_two_attempts_do_not_share_what_each_has_left(tmp_path: Path) -> None:
    """As when a lost worker had not noticed yet."""
    checkpoints = Checkpoints(str(tmp_path), "w")
    first, again = checkpoints.take(ONE), checkpoints.take(AGAIN)
    for path in (first, again):
        (Path(path) / "made").touch()

    assert checkpoints.keep(AGAIN, again)
    assert checkpoints.keep(ONE, first)
    assert {name.rpartition(".")[2] for name in kept(tmp_path)} == {"j1", "left"}


def test_killed_spawner_leaves_what_its_jobs_had_written(plain_spawner: SpawnerProcess) -> None:
    root = plain_spawner.root
    agent = plain_spawner.connect()
    # It also ends when its directory is removed before it has looked once more.
    lives = f"[ -d {root} ] && ! [ -e {root}/end ]"
    script = f"{WRITE}; touch {root}/written; while {lives}; do sleep 0.05; done"
    agent.begin(process(1, "sh", "-c", script))
    _until_there(root / "written")
    plain_spawner.kill()
    with SpawnerProcess(root) as again:
        (root / "end").touch()
        assert kept(again.checkpoints) == {"b1.j1"}
        again_agent = again.connect()
        second = process(1, "sh", "-c", f'[ "$({LOOK})" = made ]')
        again_agent.start(msgspec.structs.replace(second, key=KEY_2))
        assert again_agent.until(KEY_2).exit_code == 0


def test_next_attempt_need_not_wait_for_what_outlives_the_last(
    plain_spawner: SpawnerProcess,
) -> None:
    agent = plain_spawner.connect()
    left = "sh -c 'trap \"\" TERM; sleep 1011' &"
    agent.start(process(1, "sh", "-c", f"{left} {WRITE}", grace_ms=600_000))
    agent.until_ended(1)
    again = msgspec.structs.replace(process(1, "sh", "-c", f'[ "$({LOOK})" = made ]'), key=KEY_2)
    agent.start(again)

    assert agent.until(KEY_2).exit_code == 0


def _until_there(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline


async def _until_removed(worker: Worker) -> None:
    """Wait for a fact of which no event tells."""
    never = asyncio.Event()
    for _ in range(1000):
        if not kept(worker.files.checkpoints):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(0.02):
                await never.wait()
    raise AssertionError(kept(worker.files.checkpoints))


async def test_checkpoint_of_a_job_that_has_ended_is_removed(worker: Worker) -> None:
    worker.store.submit(sh(WRITE))
    (report,) = await worker.store.until(1)

    assert report.exit_code == 0
    await _until_removed(worker)


async def test_checkpoint_of_a_job_that_ended_elsewhere_is_removed(worker: Worker) -> None:
    """At the next look, and what belongs to nobody at once."""
    await worker.crash()
    root = worker.files.checkpoints / "kept"
    for name in ("b1.j1", "0123.left"):
        (root / name).mkdir()
    worker.again_s = 0.01
    worker.store.submit(sh("sleep 1010"))
    await worker.start()
    await worker.store.until_started(1)

    assert (root / "b1.j1").exists()
    worker.store.jobs[0].is_over = True
    await _until_removed(worker)
