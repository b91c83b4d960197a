"""Notes travel apart from the ends and the progress of others, within a rate."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from weft.core.notes import Note
from weft.core.states import AttemptKey
from weft.ports.patience import tasks_beside
from weft.ports.store import JobUser, ProgressReport
from weft.worker.agent.attempt_files import ProgressFiles
from weft.worker.agent.note_files import NoteFiles
from worker.fake_store import FakeStore

MALLORY, CAROL, BOB = 1, 2, 3
"""Batches, each of a tenant of its own."""
RATE = 8 << 20


class Store(FakeStore):
    """Notes of some batches wait until their locks are free."""

    def __init__(self) -> None:
        super().__init__()
        self.locked = defaultdict[int, asyncio.Lock](asyncio.Lock)
        self.recorded: list[tuple[AttemptKey, str, bytes]] = []
        self.told: list[ProgressReport] = []
        self.is_asked = asyncio.Event()

    async def list_job_users(self, jobs: Sequence[tuple[int, int]]) -> Sequence[JobUser]:
        return [JobUser(batch, job, batch, 1, f"t{batch}", "user") for batch, job in jobs]

    async def record_note(self, incarnation_id: int, key: AttemptKey, note: Note) -> bool:
        del incarnation_id
        self.is_asked.set()
        async with self.locked[key.batch_id]:
            self.recorded.append((key, note.title, note.body))
        return True

    async def record_progress(
        self, incarnation_id: int, reports: Sequence[ProgressReport]
    ) -> None:
        del incarnation_id
        self.told += reports

    def bodies(self, key: AttemptKey) -> list[bytes]:
        return [body for one, _, body in self.recorded if one == key]


class Agent:
    """What of an agent tells notes and progress."""

    def __init__(self, directory: Path, rate: int) -> None:
        self.store, self.directory = Store(), directory
        self.notes = NoteFiles(directory, self.store, 1, rate)
        self.progress = ProgressFiles(directory, self.store, 1)
        self.attempts = set[AttemptKey]()

    def writes(self, batch: int, job: int, **notes: str) -> AttemptKey:
        """Let an attempt say how far it is, and leave notes."""
        key = AttemptKey(batch, job, 1)
        self.attempts.add(key)
        folder = self.directory / f"{key.name}.notes"
        folder.mkdir(exist_ok=True)
        for title, text in notes.items():
            (folder / ".new").write_text(text)
            (folder / ".new").rename(folder / f"{title}.txt")
        (self.directory / key.name).write_text("50 half\n")
        return key

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Tell what runs meanwhile."""
        loops = self.notes.run(0.001, self.attempts), self.progress.run(0.001, self.attempts)
        async with asyncio.timeout(60), tasks_beside([*map(asyncio.create_task, loops)]):
            yield

    async def end(self, key: AttemptKey) -> None:
        """Do what comes before the end of an attempt is reported."""
        await self.progress.tell({key})
        await self.notes.tell_last(key)
        self.attempts.discard(key)


@pytest.mark.parametrize("batch", [BOB, CAROL])
async def test_no_end_waits_for_notes_of_another_tenant(tmp_path: Path, batch: int) -> None:
    """With and without notes of its own, beside ends and running jobs whose notes stand still."""
    agent = Agent(tmp_path, RATE)
    for job in range(1, 40):
        agent.writes(MALLORY, job, a="x" * 100, b="y")
    async with agent.store.locked[MALLORY], agent.running():
        await agent.store.is_asked.wait()
        ends = [asyncio.create_task(agent.end(AttemptKey(MALLORY, n, 1))) for n in range(1, 20)]
        async with tasks_beside(ends):
            for n in range(1, 21):
                key = agent.writes(batch, n, **({"mine": f"{n}"} if n % 2 else {}))
                await agent.end(key)
                assert agent.store.bodies(key) == ([f"{n}".encode()] if n % 2 else [])
                assert any(one.job_id == n for one in agent.store.told if one.batch_id == batch)
        assert not agent.store.bodies(AttemptKey(MALLORY, 1, 1))


async def test_of_what_a_job_rewrites_the_newest_is_told_at_its_end(tmp_path: Path) -> None:
    """What was under way is told before it, and what came between is not told at all."""
    agent = Agent(tmp_path, RATE)
    key = agent.writes(BOB, 1, loss="0")
    async with agent.running():
        async with agent.store.locked[BOB]:
            await agent.store.is_asked.wait()
            for n in range(1, 50):
                agent.writes(BOB, 1, loss=f"{n}")
            end = asyncio.create_task(agent.end(key))
            await asyncio.sleep(0)
        await end

    assert agent.store.bodies(key) == [b"0", b"49"]


async def test_notes_of_an_end_beyond_the_rate_are_passed_over(tmp_path: Path) -> None:
    """A tenant that leaves hours of them ends nevertheless, and others have their own rate."""
    agent = Agent(tmp_path, 64)
    big = agent.writes(MALLORY, 1, a="x" * 9000, b="y" * 9000)
    other = agent.writes(BOB, 1, a="x")
    async with asyncio.timeout(60):
        await agent.end(big)
        await agent.end(other)

    assert [len(body) for body in agent.store.bodies(big)] == [9000]
    assert agent.store.bodies(other) == [b"x"]


async def test_running_job_has_a_part_of_the_rate(tmp_path: Path) -> None:
    """What it rewrites is told again when that is used up, its end at once."""
    agent = Agent(tmp_path, 4096)
    key = agent.writes(BOB, 1, a="x" * 8000)
    async with agent.running():
        await agent.store.is_asked.wait()
        agent.writes(BOB, 1, a="newer")
        looked = len(agent.store.told)
        other = agent.writes(CAROL, 1)
        async with asyncio.timeout(60):
            while not any(one.batch_id == CAROL for one in agent.store.told[looked:]):
                await asyncio.sleep(0)
        assert agent.store.bodies(key) == [b"x" * 8000]
        await agent.end(key)
        assert agent.store.bodies(key) == [b"x" * 8000, b"newer"]
        await agent.end(other)


async def test_ended_attempts_are_forgotten(tmp_path: Path) -> None:
    agent = Agent(tmp_path, RATE)
    keys = {agent.writes(batch, 1, a="x") for batch in (BOB, CAROL)}
    for key in keys:
        await agent.end(key)
    agent.notes.forget(keys)

    assert not any((agent.notes._told, agent.notes._locks, agent.notes._ending))
