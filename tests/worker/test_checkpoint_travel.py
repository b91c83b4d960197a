"""Checkpoints of workers outside: what is packed and unpacked, and which of two is the newer."""

import hashlib
import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from weft.core.errors import SpoolFull
from weft.core.states import AttemptKey, Reason
from weft.ports.checkpoints import CheckpointFound
from weft.ports.file_store import FileDiffers, FileRefused, HeldFile
from weft.ports.runner import never_started
from weft.worker.agent.checkpoints import CheckpointTravel, TravelSite
from weft.worker.agent.held import HeldAttempts
from weft.worker.stager.packing import pack, survey
from weft.worker.stager.placing import unpack_checkpoint

ONE, TWO, THREE, FOUR = (AttemptKey(7, 1, number) for number in range(1, 5))
MANY = 1 << 20


class Carrier:
    """Keeps in memory; `refuses` is raised instead."""

    def __init__(self) -> None:
        self.kept: dict[tuple[int, int], tuple[CheckpointFound, bytes]] = {}
        self.n_kept = 0
        self.refuses: Exception | None = None

    async def keep(self, key: AttemptKey, held: HeldFile) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.n_kept += 1
        found = CheckpointFound(key.attempt, held.n_bytes, held.digest)
        self.kept[key.batch_id, key.job_id] = found, held.read(0, held.n_bytes)

    async def find(self, key: AttemptKey) -> CheckpointFound | None:
        found = self.kept.get((key.batch_id, key.job_id))
        return None if found is None else found[0]

    async def read(self, key: AttemptKey, offset: int) -> bytes:
        return self.kept[key.batch_id, key.job_id][1][offset : offset + 1000]


class Machine:
    """One machine with its directories."""

    def __init__(self, root: Path, carrier: Carrier, *, bytes_max: int = MANY) -> None:
        (root / "kept").mkdir(parents=True)
        site = TravelSite(root=root, worker="w", carrier=carrier, every_s=1, bytes_max=bytes_max)
        self.travel = CheckpointTravel(site, HeldAttempts(cpu_m=1, memory_mib=1))
        self.file = root / "kept" / "b7.j1" / "n"

    def write(self, text: str) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(text)


async def test_the_newer_of_two_machines_wins(tmp_path: Path) -> None:
    carrier = Carrier()
    here, there = (Machine(tmp_path / name, carrier) for name in ("here", "there"))
    here.write("one")
    await here.travel.take_away(ONE)
    await there.travel.bring_here(TWO, None)
    assert there.file.read_text() == "one"
    there.write("two")
    await there.travel.take_away(TWO)
    await here.travel.bring_here(THREE, None)
    assert here.file.read_text() == "two"
    carrier.refuses = SpoolFull("full")
    here.write("what could not be brought away")
    await here.travel.take_away(THREE)
    await here.travel.bring_here(FOUR, None)
    assert here.file.read_text() == "what could not be brought away"


async def test_what_has_not_changed_is_not_brought_again(tmp_path: Path) -> None:
    carrier = Carrier()
    here = Machine(tmp_path, carrier)
    here.write("one")
    for _ in range(2):
        await here.travel.take_away(ONE)
    assert carrier.n_kept == 1
    here.file.unlink()
    await here.travel.take_away(ONE)
    assert carrier.n_kept == 2, "the next attempt would find what this one has removed"


async def test_what_is_too_large_or_damaged_stays_away(tmp_path: Path) -> None:
    carrier = Carrier()
    here, there = Machine(tmp_path / "here", carrier, bytes_max=4096), Machine(tmp_path, carrier)
    here.write("x" * 4096)
    await here.travel.take_away(ONE)
    assert not carrier.kept
    here.write("x")
    await here.travel.take_away(ONE)
    found, body = carrier.kept[7, 1]
    carrier.kept[7, 1] = found, body[:-1]
    await there.travel.bring_here(TWO, None)
    assert not there.file.exists()


class Replacing(Carrier):
    """Another one takes the place of what is read, after its first piece, so often."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    async def read(self, key: AttemptKey, offset: int) -> bytes:
        data = await super().read(key, offset)
        if self.left and offset == 0:
            self.left -= 1
            found, body = self.kept[key.batch_id, key.job_id]
            body = body[:-1] + bytes([body[-1] ^ 1])
            found = found._replace(digest=hashlib.sha256(body).digest())
            self.kept[key.batch_id, key.job_id] = found, body
        return data


@pytest.mark.parametrize(("times", "comes"), [(2, True), (3, False)])
async def test_what_is_replaced_while_it_comes_is_fetched_again(
    tmp_path: Path, times: int, *, comes: bool
) -> None:
    carrier = Replacing(times)
    here, there = Machine(tmp_path / "here", carrier), Machine(tmp_path / "there", carrier)
    here.write(os.urandom(3000).hex())
    await here.travel.take_away(ONE)
    await there.travel.bring_here(TWO, None)
    assert there.file.exists() == comes
    assert carrier.left == 0


@pytest.mark.parametrize(
    ("reason", "waits"),
    [(Reason.EXIT, True), (Reason.PREEMPTED, True), (Reason.LOST, False), (None, False)],
)
def test_only_ends_that_another_attempt_may_follow_wait(
    tmp_path: Path, reason: Reason | None, *, waits: bool
) -> None:
    here = Machine(tmp_path, Carrier())
    ended = msgspec.structs.replace(never_started(ONE, Reason.EXIT, now_ns=1), reason=reason)
    assert not here.travel.wants(ended)
    here.write("one")
    assert here.travel.wants(ended) is waits
    assert not CheckpointTravel(None, HeldAttempts(cpu_m=1, memory_mib=1)).wants(ended)


def packed(directory: Path) -> io.BytesIO:
    with tempfile.TemporaryFile() as out:
        pack(directory, survey(directory), out, bytes_max=MANY)
        out.seek(0)
        return io.BytesIO(out.read())


def test_a_tree_is_unpacked_as_it_was(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "a" / "empty").mkdir(parents=True)
    (work / "a" / "program").write_bytes(b"x" * 10_000)
    (work / "a" / "program").chmod(0o755)
    (work / "newest").symlink_to("a/program")
    (work / "a" / "up").symlink_to("../newest")
    unpack_checkpoint(tmp_path / "new", packed(work), bytes_max=MANY)
    new = tmp_path / "new"
    assert {str(one.relative_to(new)) for one in new.rglob("*")} == {
        "a", "a/empty", "a/program", "a/up", "newest",
    }  # fmt: skip
    assert (new / "newest").read_bytes() == b"x" * 10_000
    assert os.access(new / "a" / "program", os.X_OK)


def refuse_links(work: Path) -> None:
    (work / "out").symlink_to("/etc/passwd")


def refuse_pipes(work: Path) -> None:
    os.mkfifo(work / "pipe")


@pytest.mark.parametrize("make", [refuse_links, refuse_pipes])
def test_what_is_no_file_of_the_job_is_refused(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path)
    with pytest.raises(FileRefused):
        survey(tmp_path)


def test_what_changes_meanwhile_is_not_packed(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a").write_bytes(b"x")
    seen = survey(work)
    (work / "a").write_bytes(b"longer")
    with pytest.raises(FileDiffers):
        pack(work, seen, io.BytesIO(), bytes_max=MANY)
