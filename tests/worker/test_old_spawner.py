"""A spawner of an earlier release gets no job that it would run otherwise than it should."""

import asyncio
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from weft.core.states import Reason
from weft.plugins.executors.process import ProcessExecutor
from weft.plugins.runners.spawner import SpawnerRunner
from weft.plugins.runners.spawner.start import SpawnerFiles
from weft.ports.executor import CgroupTerms, ExecutorLimits
from weft.ports.runner import Assignment, GivenSecret
from weft.wire.secret_documents import SecretUse
from weft.wire.spawner import AgentMessage, Framer, Hello, Start, Welcome, frame
from weft.wire.spec import WITH_SECRETS, WITHOUT_NETWORK, JobSpec
from worker.spawner_process import key_of

LIMITS = ExecutorLimits(grace_ms=300, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)
CGROUP = CgroupTerms(directory="/nowhere", has_quota=False, processes_max=1)
USE = SecretUse("db", env="DB")


class OldSpawner:
    """Welcomes an agent as the first release did, and keeps what it is told to start."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.has_started = asyncio.Event()
        self.has_ended = asyncio.Event()
        self._decoder = msgspec.msgpack.Decoder(AgentMessage)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        framer = Framer()
        while data := await reader.read(1 << 16):
            for message in map(self._decoder.decode, framer.feed(data)):
                if isinstance(message, Hello):
                    writer.write(frame(Welcome("old", False, [], [], [])))  # noqa: FBT003 (as sent)
                if isinstance(message, Start):
                    self.started += [" ".join(one.argv) for one in message.processes]
                    self.has_started.set()
        writer.close()
        self.has_ended.set()


@pytest.mark.parametrize(
    ("spec", "limits", "why"),
    [
        (JobSpec(("special",), own_paths=("/io",)), LIMITS, "which binds no paths"),
        (
            JobSpec(("special",), network=False, executor=f"{WITHOUT_NETWORK}process"),
            LIMITS, "which keeps no job from the network",
        ),
        (
            JobSpec(("special",), secrets=(USE,), executor=f"{WITH_SECRETS}process"),
            LIMITS, "which gives jobs no secrets",
        ),
        (JobSpec(("special",)), replace(LIMITS, sandbox=("bwrap",)), "which makes no sandboxes"),
        (JobSpec(("special",)), replace(LIMITS, cgroup=CGROUP), "which limits no jobs"),
    ],
    ids=["own paths", "network", "secrets", "sandbox", "cgroup"],
)  # fmt: skip
async def test_job_that_an_old_spawner_cannot_run_ends_and_says_why(
    short_path: Path, spec: JobSpec, limits: ExecutorLimits, why: str
) -> None:
    root = short_path
    files = SpawnerFiles(
        root / "s.sock", root / "s.lock", root / "logs", root / "scratch", root / "checkpoints",
        root / "own.log",
    )  # fmt: skip
    old = OldSpawner()
    server = await asyncio.start_unix_server(old.serve, files.socket)
    runner = SpawnerRunner(files, {"process": ProcessExecutor()}, limits, Hello(1000, 100))
    await runner.adopt()
    secrets = (GivenSecret(USE, "swordfish"),) if spec.secrets else ()
    special = Assignment(key_of(1), spec, 100, 16, (1, 1), secrets=secrets)
    ordinary = Assignment(key_of(2), JobSpec(("ordinary",)), 100, 16, (1, 2))
    await runner.submit([special, ordinary] if limits == LIMITS else [special])
    try:
        async with asyncio.timeout(60):
            happened = await anext(aiter(runner.happened()))
            if limits == LIMITS:
                await old.has_started.wait()
    finally:
        runner.leave()
        server.close()
        await asyncio.wait_for(old.has_ended.wait(), 10)

    (end,) = happened.ended
    assert (end.key, end.reason) == (key_of(1), Reason.BAD_SPEC)
    assert why in end.message
    assert old.started == (["ordinary"] if limits == LIMITS else [])
