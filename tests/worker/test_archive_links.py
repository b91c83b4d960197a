"""Random trees of links, as strangers may pack them: nothing that weft opens leads out of the
directory that it becomes, and what is refused is what leads out in a real directory. Checkpoints
of workers outside: what is packed and unpacked, and which of two is the newer.
"""

import asyncio
import errno
import hashlib
import io
import os
import re
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import weft
from weft.core.errors import DiskFull, SpoolFull
from weft.core.states import AttemptKey, Reason
from weft.ports.checkpoints import CheckpointFound
from weft.ports.file_store import FileDiffers, FileRefused, HeldFile
from weft.ports.runner import never_started
from weft.wire import app_folder
from weft.worker.agent.checkpoints import CheckpointTravel, TravelSite
from weft.worker.agent.held import HeldAttempts
from weft.worker.stager.packing import check_links, pack, survey
from weft.worker.stager.placing import unpack, unpack_checkpoint

MANY = 1 << 20
NAMES = st.sampled_from(["a", "b", "c", "l", "m"])
PLACES = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
TARGETS = st.one_of(
    st.lists(st.one_of(NAMES, st.sampled_from(["..", "..", "."])), min_size=1, max_size=6).map(
        "/".join
    ),
    st.sampled_from(["/etc/passwd", "../victim", "a//b", "a/./.."]),
)
TREES = st.dictionaries(PLACES, st.one_of(st.none(), TARGETS), min_size=1, max_size=8)
"""Directories, and links with where they lead."""
THROUGH_ANOTHER = {"a/b/c/l": "../../../m", "m": None, "a/b/c/b": "l/../../b"}


def grown(root: Path, tree: Mapping[str, str | None]) -> list[Path]:
    """Make a tree, without what another link stands in the way of; return its links."""
    links = []
    for place, target in sorted(tree.items()):
        path = root / place
        with suppress(FileExistsError, NotADirectoryError):
            if any((root / one).is_symlink() for one in Path(place).parents):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if target is None:
                path.mkdir(exist_ok=True)
            elif not os.path.lexists(path):
                path.symlink_to(target)
                links.append(path)
    return links


def leads_out(link: Path, root: Path) -> bool:
    """Ask the kernel, and of what is not there `realpath`."""
    try:
        link.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            return True
    if str(link.readlink()).startswith("/"):
        return True
    found, top = os.path.realpath(link), os.path.realpath(root)
    return found != top and not found.startswith(f"{top}/")


def links_below(root: Path) -> Iterator[Path]:
    for at, directories, files in os.walk(root):
        yield from (
            path for name in (*directories, *files) if (path := Path(at, name)).is_symlink()
        )


@pytest.mark.slow
@example(THROUGH_ANOTHER)
@example({"l": "l"})
@example({"l": "m", "m": "a/..", "b": "l/../c"})
@given(TREES)
def test_what_leads_out_is_refused_and_all_else_comes_back(tree: dict[str, str | None]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root, new = Path(name, "root"), Path(name, "elsewhere", "new")
        root.mkdir()
        links = grown(root, tree)
        texts = {one.relative_to(root).parts: str(one.readlink()) for one in links}
        if any(leads_out(one, root) for one in links):
            with pytest.raises(FileRefused):
                check_links(texts)
            with pytest.raises(FileRefused):
                survey(root)
            return
        check_links(texts)
        with open(Path(name, "packed"), "w+b") as out:
            pack(root, survey(root), out, bytes_max=MANY)
            out.seek(0)
            unpack_checkpoint(new, out, bytes_max=MANY)
        assert {
            one.relative_to(new).parts: str(one.readlink()) for one in links_below(new)
        } == texts


def as_tar(tree: Mapping[str, str | None], mode: Literal["w", "w:gz"] = "w") -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode=mode) as tar:
        for place, target in tree.items():
            entry = tarfile.TarInfo(place)
            entry.type, entry.linkname = (
                (tarfile.DIRTYPE, "") if target is None else (tarfile.SYMTYPE, target)
            )
            tar.addfile(entry)
    return archive.getvalue()


def as_hard_links(tree: Mapping[str, str | None]) -> bytes:
    return as_tar(tree).replace(tarfile.SYMTYPE, tarfile.LNKTYPE)


def as_zip(tree: Mapping[str, str | None]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        for place, target in tree.items():
            entry = zipfile.ZipInfo(place if target is not None else f"{place}/")
            entry.external_attr = (stat.S_IFLNK if target is not None else stat.S_IFDIR) << 16
            out.writestr(entry, target or "")
    return archive.getvalue()


def open_input(packed: bytes, new: Path) -> None:
    new.mkdir()
    archive = new.with_name("archive")
    archive.write_bytes(packed)
    unpack(new, ("in",), archive, bytes_max=MANY, entries_max=100)


def open_checkpoint(packed: bytes, new: Path) -> None:
    unpack_checkpoint(new, io.BytesIO(packed), bytes_max=MANY)


def open_app(packed: bytes, new: Path) -> None:
    app_folder.unpack(io.BytesIO(packed), new, MANY)


OPENERS = {
    "worker/stager/unpacking.py": [(open_input, True), (open_checkpoint, False)],
    "wire/app_folder.py": [(open_app, True)],
}
"""By the file in which archives are opened; and whether any link is refused."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("open_it", "refuses"), [one for all_ in OPENERS.values() for one in all_]
)
@example(tree={"l": ".", "l/../../a": None})
@example(tree={"./": "."})
@example(tree=THROUGH_ANOTHER)
@given(tree=TREES)
def test_no_archive_of_a_stranger_leads_out(
    open_it: Callable[[bytes, Path], None], *, tree: dict[str, str | None], refuses: bool
) -> None:
    for packed in (as_tar(tree), as_tar(tree, "w:gz"), as_zip(tree), as_hard_links(tree)):
        with tempfile.TemporaryDirectory() as name:
            top = Path(name, "top")
            top.mkdir()
            new = top / "new"
            with suppress(FileRefused, FileDiffers, app_folder.BadFolder):
                open_it(packed, new)
                assert not refuses or not any(links_below(new))
                assert not any(leads_out(one, new) for one in links_below(new))
            assert {one.name for one in top.iterdir()} <= {"new", "archive"}


def test_all_places_that_open_archives_are_walked_here() -> None:
    root = Path(weft.__file__).parent
    opens = re.compile(r"tarfile\.open\((?!.*mode=\"w)|ZipFile\(", re.DOTALL)
    found = {
        str(one.relative_to(root)) for one in root.rglob("*.py") if opens.search(one.read_text())
    }
    assert found - {"worker/stager/packing.py"} == set(OPENERS)


ONE, TWO, THREE, FOUR = (AttemptKey(7, 1, number) for number in range(1, 5))


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
    carrier.refuses = DiskFull("nearly full")
    async with asyncio.timeout(20):  # an end waits for no room, and the next round tries again
        await here.travel.take_away(ONE)
    carrier.refuses = None
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
        "a",
        "a/empty",
        "a/program",
        "a/up",
        "newest",
    }
    assert (new / "newest").read_bytes() == b"x" * 10_000
    assert os.access(new / "a" / "program", os.X_OK)


def test_what_is_no_file_of_the_job_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc/passwd")
    with pytest.raises(FileRefused):
        survey(tmp_path)
    (tmp_path / "out").unlink()
    os.mkfifo(tmp_path / "out")
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
