"""Packed folders of applications: what they hold comes back, and nothing leads out of them."""

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.wire.app_folder import BadFolder, entries, pack, unpack


def test_folder_comes_back_and_is_always_packed_alike(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    (folder / "sub" / "empty").mkdir(parents=True)
    (folder / "sub" / "ü.txt").write_text("text")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o700)
    packed = pack(folder)
    (folder / "run.sh").touch()
    assert pack(folder) == packed
    unpack(io.BytesIO(packed), tmp_path / "new", 1000)
    assert (tmp_path / "new" / "sub" / "ü.txt").read_text() == "text"
    assert (tmp_path / "new" / "sub" / "empty").is_dir()
    assert (tmp_path / "new" / "run.sh").stat().st_mode & 0o777 == 0o755


def test_links_are_not_packed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(BadFolder, match="links"):
        pack(tmp_path)


def _tar(*members: tuple[str, bytes, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, kind, data in members:
            entry = tarfile.TarInfo(name)
            entry.type, entry.size, entry.linkname = kind, len(data), "/etc"
            tar.addfile(entry, io.BytesIO(data))
    return gzip.compress(out.getvalue())


def _bomb() -> bytes:
    return _tar(("zeros", tarfile.REGTYPE, bytes(1 << 20)))


@pytest.mark.parametrize(
    ("packed", "what"),
    [
        (lambda: _tar(("../out", tarfile.REGTYPE, b"x")), "leads out"),
        (lambda: _tar(("a/../../out", tarfile.REGTYPE, b"x")), "leads out"),
        (lambda: _tar(("/etc/out", tarfile.REGTYPE, b"x")), "leads out"),
        (lambda: _tar(("link", tarfile.SYMTYPE, b"")), "neither"),
        (lambda: _tar(("link", tarfile.LNKTYPE, b"")), "neither"),
        (lambda: _tar(("pipe", tarfile.FIFOTYPE, b"")), "neither"),
        (lambda: _tar(*[("twice", tarfile.REGTYPE, b"x")] * 2), "twice"),
        (lambda: _tar(("f", tarfile.REGTYPE, b"x"), ("f/g", tarfile.REGTYPE, b"x")), "below"),
        (lambda: _tar(*[(f"d{n}", tarfile.DIRTYPE, b"") for n in range(10_001)]), "more than"),
        (_bomb, "more than 1000 bytes"),
        (lambda: _tar(("f", tarfile.REGTYPE, b"x"))[:60], "no packed folder"),
        (lambda: b"nothing", "no packed folder"),
        (lambda: _tar(("n" * 100_000, tarfile.REGTYPE, b"x")), "too long"),
    ],
)
@pytest.mark.heavy
def test_what_leads_out_is_refused(packed: Callable[[], bytes], what: str, tmp_path: Path) -> None:
    data = packed()
    with pytest.raises(BadFolder, match=what):
        for _ in entries(io.BytesIO(data), 1000):
            pass
    with pytest.raises(BadFolder, match=what):
        unpack(io.BytesIO(data), tmp_path / "new", 1000)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["new"]
