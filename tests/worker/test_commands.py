"""Commands from the store through the agent to processes."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from contexts import beside
from weft.core.states import AttemptKey, Command, Reason
from weft.ports.runner import Runner
from weft.worker.agent.attempt_files import MessageFiles
from weft.worker.agent.commands import Commands
from weft.worker.agent.held import HeldAttempts
from worker.fake_store import FakeStore
from worker.worker_process import Worker, sh

KEY = AttemptKey(1, 1, 1)


WAITS = "trap 'echo got; exit 7' USR1; while :; do sleep 0.02; done"


async def test_signal_reaches_the_first_process(worker: Worker) -> None:
    await worker.begin(sh(WAITS))
    worker.store.tell(Command(5, KEY, 10))
    (report,) = await worker.store.until(1)

    assert await worker.store.until_obeyed(1) == [(5, "")]
    assert (report.exit_code, worker.output(report)) == (7, b"got\n")


async def test_signal_while_nobody_listens_is_delivered_later(worker: Worker) -> None:
    await worker.begin(sh(WAITS))
    await worker.crash()
    worker.store.tell(Command(5, KEY, 10))
    await worker.start()
    (report,) = await worker.store.until(1)

    assert report.exit_code == 7


READS = """
until [ -e "$WEFT_MESSAGES" ]; do sleep 0.02; done
until [ "$(cat "$WEFT_MESSAGES"/*)" = "one two" ]; do sleep 0.02; done
ls "$WEFT_MESSAGES" | wc -l
"""


async def test_message_is_a_file_for_the_job(worker: Worker) -> None:
    """Each a file of its own, in the order in which they were sent."""
    await worker.begin(sh(READS))
    worker.store.tell(Command(9, KEY, message="one "))
    await worker.store.until_obeyed(1)
    worker.store.tell(Command(10, KEY, message="two\n"))
    (report,) = await worker.store.until(1)
    await worker.stop()

    assert worker.output(report) == b"2\n"
    assert worker.store.obeyed == [(9, ""), (10, "")]
    assert list((worker.files.scratch / "messages").iterdir()) == []


async def test_message_while_nobody_listens_is_delivered_later(worker: Worker) -> None:
    """And what came before is kept."""
    await worker.begin(sh(READS))
    worker.store.tell(Command(9, KEY, message="one "))
    await worker.store.until_obeyed(1)
    await worker.crash()
    worker.store.tell(Command(10, KEY, message="two"))
    await worker.start()
    (report,) = await worker.store.until(1)

    assert worker.output(report) == b"2\n"


async def test_extended_job_runs_beyond_its_limit(worker: Worker, short_path: Path) -> None:
    """As long as it needs."""
    gate = short_path / "gate"
    script = f"until [ -e {gate} ]; do sleep 0.02; done"
    worker.store.asks_again = True
    worker.store.tell(Command(5, KEY, extra_ms=600_000))
    worker.store.submit(sh(script, timeout_s=3.0), sh("sleep 60", timeout_s=3.0))
    assert await worker.store.until_obeyed(1) == [(5, "")]
    (timed_out,) = await worker.store.until(1)
    gate.touch()
    ends = await worker.store.until(2)

    assert (timed_out.job_id, timed_out.reason) == (2, Reason.TIMEOUT)
    assert [end.exit_code for end in ends if end.job_id == 1] == [0]


async def test_extension_of_a_job_without_a_limit_is_refused(worker: Worker) -> None:
    await worker.begin(sh("sleep 60"))
    worker.store.tell(Command(5, KEY, extra_ms=600_000))

    assert await worker.store.until_obeyed(1) == [(5, "it has no time limit")]


class SlowStore(FakeStore):
    """Its answers about commands may be on their way for long."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: asyncio.Queue[None] = asyncio.Queue()
        self.answers = asyncio.Event()

    async def list_commands(
        self, incarnation_id: int, attempts: Sequence[tuple[int, int, int]]
    ) -> tuple[Sequence[Command], bool]:
        answer = await super().list_commands(incarnation_id, attempts)
        self.asked.put_nowait(None)
        await self.answers.wait()
        return answer


class Ear:
    """What a runner is told."""

    outlives_host = True

    def __init__(self) -> None:
        self.told: asyncio.Queue[int] = asyncio.Queue()

    def command(self, commands: Sequence[Command]) -> None:
        for one in commands:
            self.told.put_nowait(one.number)


async def test_a_look_is_repeated_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once: it records what did not reach an attempt that was ending."""
    monkeypatch.setattr("weft.worker.agent.commands._SETTLED_S", 0.01)
    store, held = SlowStore(), HeldAttempts(cpu_m=1, memory_mib=1)
    store.answers.set()
    commands = Commands(store, 1, held, cast("Runner", Ear()), MessageFiles(tmp_path))
    async with beside(commands.run()), asyncio.timeout(30):
        for _ in range(2):
            commands.look()
            await store.asked.get()
            await store.asked.get()

    assert store.asked.empty()


async def test_command_is_passed_on_once(tmp_path: Path) -> None:
    """Also if it is obeyed while it is being listed again."""
    store, runner, held = SlowStore(), Ear(), HeldAttempts(cpu_m=1, memory_mib=1)
    held.add(KEY, cpu_m=1, memory_mib=1).is_sent = True
    store.commands = [Command(5, KEY, 10), Command(6, KEY, message="x")]
    commands = Commands(store, 1, held, cast("Runner", runner), MessageFiles(tmp_path))
    store.answers.set()
    commands.look()
    async with beside(commands.run()), asyncio.timeout(30):
        await store.asked.get()
        assert await runner.told.get() == 5
        await store.until_obeyed(1)
        store.answers.clear()
        commands.look()
        await store.asked.get()
        commands.on_obeyed([(5, "")])
        store.answers.set()
        await store.until_obeyed(2)

    assert store.obeyed == [(6, "its worker's runner cannot pass it on"), (5, "")]
    assert runner.told.empty()
