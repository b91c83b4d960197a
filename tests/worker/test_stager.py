"""What jobs and archives may contain, and what becomes of it: nothing outside of the directory."""

import asyncio
import bz2
import gzip
import hashlib
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from weft.ports.file_store import FileDiffers, FileProblem, FileRefused
from weft.wire.documents.files import FileOutput
from weft.worker.stager.finding import find_outputs, opened_output
from weft.worker.stager.placing import append, put_file, unpack

MANY = 1 << 30


def found(
    work: Path, *patterns: str, to: str | None = None, files_max: int = 100, bytes_max: int = MANY
) -> list[str]:
    """Return what would be kept, and then what is wrong with the rest."""
    outputs = [FileOutput(one, to) for one in patterns]
    files, problems = find_outputs(work, outputs, files_max=files_max, bytes_max=bytes_max)
    return [*(one.target for one in files), *problems]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for name in ("a.txt", "b.txt", "out/c.txt", "out/deep/d.txt", "out/deep/e"):
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return tmp_path / "work"


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("a.txt", ["a.txt"]),
        ("*.txt", ["a.txt", "b.txt"]),
        ("**/*.txt", ["a.txt", "b.txt", "out/c.txt", "out/deep/d.txt"]),
        ("out", ["out/c.txt", "out/deep/d.txt", "out/deep/e"]),
        ("out/", ["out/c.txt", "out/deep/d.txt", "out/deep/e"]),
        ("out/**", ["out/c.txt", "out/deep/d.txt", "out/deep/e"]),
        ("**/deep/*", ["out/deep/d.txt", "out/deep/e"]),
        ("[ab].t?t", ["a.txt", "b.txt"]),
    ],
)
def test_patterns(work: Path, pattern: str, names: list[str]) -> None:
    assert sorted(found(work, pattern)) == names


def test_existing_file_of_exactly_that_name_wins(work: Path) -> None:
    for name in ("f[1].txt", "f1.txt", "d[2]/x", "d2/x", "g3"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).touch()
    for pattern, name in {
        "f[1].txt": "f[1].txt",
        "d[2]/?": "d[2]/x",
        "**/f[1].txt": "f[1].txt",
        "g[3]": "g3",
    }.items():
        assert found(work, pattern) == found(work, pattern, pattern) == [name]


def test_fixed_part_of_a_pattern_is_left_out(work: Path) -> None:
    """Not of one without wildcards, which is a file or a directory; nor without `to`."""
    for pattern, to, names in (
        ("out/*.txt", "x/", ["x/c.txt"]),
        ("out/**/d.*", "store://s/x/", ["store://s/x/deep/d.txt"]),
        ("out/de*/*", "x/", ["x/deep/d.txt", "x/deep/e"]),
        ("*.txt", "x/", ["x/a.txt", "x/b.txt"]),
        ("out/c.txt", "x/", ["x/out/c.txt"]),
        ("out/*.txt", None, ["out/c.txt"]),
    ):
        outputs = [FileOutput(pattern, to, strip=True)]
        kept, _ = find_outputs(work, outputs, files_max=9, bytes_max=MANY)
        assert sorted(one.target for one in kept) == names


def test_targets(work: Path) -> None:
    assert found(work, "a.txt", to="x") == ["x"]
    assert found(work, "a.txt", to="x/") == ["x/a.txt"]
    assert sorted(found(work, "out/deep", to="x")) == ["x/d.txt", "x/e"]
    with pytest.raises(FileRefused, match="two of its outputs"):
        find_outputs(
            work, [FileOutput("a.txt", "x"), FileOutput("b.txt", "x")], files_max=9, bytes_max=MANY
        )


def test_optional_outputs_are_what_can_be_kept_and_is_new(work: Path, tmp_path: Path) -> None:
    """Links are left out, and what the application brought and the job left as it was."""
    folder = tmp_path / "app"
    (folder / "out").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"a.txt")
    (folder / "b.txt").write_bytes(b"B.txt")
    (work / "link").symlink_to("/etc/passwd")
    outputs = [FileOutput("**", when="always", optional=True), FileOutput("none", optional=True)]

    some, wrong = find_outputs(work, outputs, files_max=99, bytes_max=MANY, folder=folder)

    assert [one.target for one in some] == ["b.txt", "out/c.txt", "out/deep/d.txt", "out/deep/e"]
    assert not wrong


def test_what_is_missing_or_too_much(work: Path) -> None:
    assert found(work, "none", "a.txt") == ["a.txt", "its output 'none' is missing"]
    assert len(found(work, *map(str, range(200)))) == 100
    with pytest.raises(FileRefused, match="output_files_max"):
        found(work, "**", files_max=2)
    with pytest.raises(FileRefused, match="output_bytes_max"):
        found(work, "**", bytes_max=3)
    for n in range(50):
        (work / f"n{n}").touch()
    with pytest.raises(FileRefused, match="too many"):
        found(work, "n1*", files_max=2)


def test_links_pipes_and_names_are_refused(work: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_bytes(b"key")
    (work / "link").symlink_to(secret / "key")
    (work / "way").symlink_to(secret)
    os.mkfifo(work / "pipe")
    for pattern, name in (("link", "link"), ("way", "way"), ("pipe", "pipe"), ("l*", "link")):
        assert found(work, pattern) == [f"its output '{name}' is no plain file"]
    assert found(work, "way/key") == ["its output 'way/key' is missing"]
    assert "way/key" not in found(work, "out/**")
    Path(os.fsdecode(os.fsencode(work) + b"/out/\xff")).touch()
    assert ["UTF-8" in one for one in found(work, "out/**")] == [False, False, False, True]
    (work / "new\nline").touch()
    assert found(work, "new*") == ["new\nline"]


def swap_file(work: Path, secret: Path) -> None:
    (work / "out" / "c.txt").unlink()
    (work / "out" / "c.txt").symlink_to(secret / "c.txt")


def swap_directory(work: Path, secret: Path) -> None:
    (work / "out").rename(work / "elsewhere")
    (work / "out").symlink_to(secret)


def swap_pipe(work: Path, _: Path) -> None:
    (work / "out" / "c.txt").unlink()
    os.mkfifo(work / "out" / "c.txt")


@pytest.mark.parametrize("swap", [swap_file, swap_directory, swap_pipe])
def test_what_is_swapped_after_it_was_found(
    work: Path, tmp_path: Path, swap: Callable[[Path, Path], None]
) -> None:
    """Nothing is read that a link leads to, and nobody waits for a pipe."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "c.txt").write_bytes(b"key")
    assert found(work, "out/c.txt") == ["out/c.txt"]
    swap(work, secret)
    with pytest.raises(FileRefused), opened_output(work, "out/c.txt", owner=None):
        pass


def test_file_of_another_account_is_refused(work: Path) -> None:
    """A job could link to what its account may not read, where links are not protected."""
    with opened_output(work, "a.txt", owner=os.geteuid()):
        pass
    refused, other = pytest.raises(FileRefused, match="somebody else"), os.geteuid() + 1
    with refused, opened_output(work, "a.txt", owner=other):
        pass


def tar_of(*entries: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as tar:  # type: ignore[call-overload]  # any text
        for info, body in entries:
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    return packed.getvalue()


def entry(name: str, body: bytes = b"x", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, body


def zip_of(
    *names: str, body: bytes = b"x", mode: int = 0o100644, how: int = zipfile.ZIP_DEFLATED
) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            out.writestr(info, body, how)
    return packed.getvalue()


def unpacked(
    work: Path, data: bytes, *, bytes_max: int = 1 << 20, entries_max: int = 10, into: str = "in"
) -> None:
    archive = work.parent / "archive"
    archive.write_bytes(data)
    unpack(work, (into,), archive, bytes_max=bytes_max, entries_max=entries_max)


FILES = [
    entry("./d/", b"", type=tarfile.DIRTYPE),
    entry("d/run", os.urandom(30_000), mode=0o755),
    entry("z", zip_of("z/one")),
]
PACKERS: list[Callable[[bytes], bytes]] = [bytes, gzip.compress, bz2.compress, lzma.compress]


def in_streams(pack: Callable[[bytes], bytes]) -> bytes:
    """As pbzip2, bgzip and `xz -T` with blocks of their own, or `cat`, leave a tar."""
    whole = tar_of(*FILES, mode="w")
    return pack(whole[:9000]) + pack(whole[9000:21000]) + pack(whole[21000:]) + pack(b"")


@pytest.mark.parametrize("pack", PACKERS)
def test_archives_are_unpacked_whole_or_refused(
    work: Path, pack: Callable[[bytes], bytes]
) -> None:
    for n, data in enumerate(
        (pack(tar_of(*FILES, mode="w")), in_streams(pack), zip_of("d/run", "z"))
    ):
        unpacked(work, data, into=f"{n}")
        assert sorted(one.name for one in (work / f"{n}").iterdir()) == ["d", "z"]
    assert os.access(work / "1" / "d" / "run", os.X_OK)
    assert (work / "1" / "d" / "run").read_bytes() == FILES[1][1]
    assert (work / "1" / "z").read_bytes() == FILES[2][1]
    whole, streams = tar_of(*FILES, mode="w"), in_streams(pack)
    changed = bytearray(streams)
    changed[len(streams) // 2] ^= 1
    damaged = [whole[:31_232] + b"x" * 512 + whole[31_744:], whole + whole, whole[:31_500]]
    for n, data in enumerate(
        [*map(pack, damaged), *([bytes(changed)] if pack is not bytes else [])]
    ):
        with pytest.raises((FileRefused, FileDiffers)):
            unpacked(work, data, into=f"damaged{n}")


def wide_xz(number: int) -> bytes:
    """Says in the header of its block, or of all, that it needs a GiB to be unpacked."""
    data = bytearray(lzma.compress(tar_of(entry("a"), mode="w"), number))
    if number == lzma.FORMAT_ALONE:
        data[1:5] = (1 << 30).to_bytes(4, "little")
    else:
        data[16] = 36
        data[20:24] = zlib.crc32(data[12:20]).to_bytes(4, "little")
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        tar_of(entry("../x")),
        tar_of(entry("/tmp/x")),
        tar_of(entry("l", b"", type=tarfile.SYMTYPE, linkname="/etc")),
        tar_of(entry("l", b"", type=tarfile.LNKTYPE, linkname="../a.txt")),
        tar_of(entry("dev", b"", type=tarfile.CHRTYPE)),
        tar_of(entry("pipe", b"", type=tarfile.FIFOTYPE)),
        tar_of(entry("a"), entry("a/b")),
        tar_of(entry("a"), entry("a")),
        tar_of(entry("big", bytes(2 << 20))),
        tar_of(*(entry(f"n{n}") for n in range(11))),
        zip_of("../x"),
        zip_of("/x"),
        zip_of("link", body=b"/etc", mode=0o120777),
        zip_of("big", body=bytes(2 << 20)),
        zip_of(*(f"n{n}" for n in range(11))),
        b"no archive at all",
        tar_of(entry("cut", os.urandom(100_000)))[:-5000],
        wide_xz(lzma.FORMAT_XZ),
        wide_xz(lzma.FORMAT_ALONE),
        zip_of("a", how=zipfile.ZIP_LZMA),
    ],
    ids=range(20),
)  # gzip has dates, and pytest's processes name the same tests alike
def test_archives_that_are_refused(work: Path, data: bytes) -> None:
    with pytest.raises((FileRefused, FileDiffers)):
        unpacked(work, data)
    assert (work / "a.txt").read_bytes() == b"a.txt"
    assert not (work / "x").exists()
    assert not (work.parent / "x").exists()


def test_archive_that_another_packed_names_the_packer(work: Path) -> None:
    with pytest.raises(FileRefused, match="packed by zstd; tar, alone or packed by gzip"):
        unpacked(work, b"\x28\xb5\x2f\xfd" + bytes(600))


def test_list_of_a_zip_is_bounded_before_it_is_read(work: Path) -> None:
    """Not that of a zip within it, which is data."""
    unpacked(work, zip_of("z", body=zip_of(*map(str, range(99))), how=zipfile.ZIP_STORED))
    with pytest.raises(FileRefused, match="it lists more than 10 files"):
        unpacked(work, zip_of(*map(str, range(11))), into="many")


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    for one in data:
        yield one


async def test_place_is_given_to_what_is_whole(work: Path) -> None:
    given = {"digest": None, "n_bytes": 4, "bytes_max": 4}
    await put_file(work, ("new", "x"), pieces(b"12", b"34"), **given)  # type: ignore[arg-type]
    assert (work / "new" / "x").read_bytes() == b"1234"
    (work / "way").symlink_to(work.parent)
    for parts, data in (
        (("new", "x"), b"1234"),
        (("a.txt", "x"), b"1234"),
        (("way", "x"), b"1234"),
        (("short",), b"12"),
        (("long",), b"12345"),
    ):
        with pytest.raises(FileProblem):
            await put_file(work, parts, pieces(data), **given)  # type: ignore[arg-type]
    assert sorted(one.name for one in work.iterdir()) == ["a.txt", "b.txt", "new", "out", "way"]
    assert not (work.parent / "x").exists()


async def test_who_is_cancelled_closes_no_file_to_which_a_thread_writes() -> None:
    """Twice: a pipe that is full keeps the thread at its work."""
    source, target = os.pipe()
    piece, digest = os.urandom(1 << 20), hashlib.sha256()
    writing = asyncio.create_task(append(target, digest, piece))
    with os.fdopen(source, "rb", buffering=0) as rest:
        begun = await asyncio.to_thread(rest.read, 1)
        for _ in range(2):
            writing.cancel()
            await asyncio.wait([writing], timeout=0)
            assert not writing.done()
        while len(begun) < len(piece):
            begun += await asyncio.to_thread(rest.read, len(piece))
    assert begun == piece
    await asyncio.wait([writing])
    os.close(target)

    assert writing.cancelled()
    assert digest.digest() == hashlib.sha256(piece).digest()
