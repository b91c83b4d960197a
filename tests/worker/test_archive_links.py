"""Random trees of links, as strangers may pack them: nothing that weft opens leads out of the
directory that it becomes, and what is refused is what leads out in a real directory.
"""

import errno
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

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import weft
from weft.ports.file_store import FileDiffers, FileRefused
from weft.wire import app_folder
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
        str(one.relative_to(root)) for one in root.rglob("*.py")
        if opens.search(one.read_text())
    }  # fmt: skip
    assert found - {"worker/stager/packing.py"} == set(OPENERS)
