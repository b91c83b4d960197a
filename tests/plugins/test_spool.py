"""The spool of workers outside: what it takes, its bounds, and what is removed."""

import hashlib
import resource
from dataclasses import replace
from pathlib import Path

import pytest

from cases import cases
from weft.core.errors import DiskFull, SpoolFull
from weft.core.states import AttemptKey
from weft.plugins.log_stores.files.spool import FileSpool
from weft.plugins.log_stores.files.store import FileLogStore
from weft.plugins.log_stores.s3.bucket import records_of
from weft.ports.checkpoints import CheckpointFound
from weft.ports.log_store import AttemptLog, LogDirectory
from weft.ports.spool import SpoolLimits
from weft.wire.log_format import RECORD, RECORD_MAGIC, STDOUT, encode_piece, segment_location
from weft.worker.spawner.reports import Segments

LIMITS = SpoolLimits(
    attempt_bytes_max=1 << 20,
    worker_bytes_max=1 << 20,
    tenant_bytes_max=1 << 20,
    free_bytes_min=0,
    keep_s=None,
)
PLACE = "0" * 32
OWN = "attempts/b1/0/1.1"


def spool_at(path: Path, **limits: int) -> FileSpool:
    return FileSpool(path, replace(LIMITS, **limits))


def log_of(batch_id: int, job_id: int, at: tuple[int, int] | None = None) -> AttemptLog:
    return AttemptLog(
        batch_id,
        job_id,
        1,
        ended=True,
        location=None if at is None else segment_location(*at),
        stdout_bytes=5,
        stderr_bytes=0,
        truncated=False,
        state="success",
        directory=LogDirectory(PLACE, "far", "/far"),
    )


@cases(
    "path",
    [
        "../x",
        "segments/../../x",
        "/etc/passwd",
        "attempts/b1/0/1.1/x",
        "place",
        "attempts/b1",
        "attempts/b1/gone",
        "attempts/b1/7/1.1",
        "attempts/b1/0/1.1\n",
    ],
)
def test_spool_keeps_files_of_output_only(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="no file of output"):
        spool_at(tmp_path).write(PLACE, path, 0, b"x")
    assert not list(tmp_path.rglob("x"))


def test_spool_writes_from_where_its_file_ends(tmp_path: Path) -> None:
    spool = spool_at(tmp_path)
    assert spool.write(PLACE, OWN, 3, b"def") == 0
    assert spool.write(PLACE, OWN, 0, b"abc") == 3
    for _ in range(2):
        assert spool.write(PLACE, OWN, 3, b"def") == 6
    assert spool.write(PLACE, OWN, 0, b"XYZdefg") == 7
    assert (tmp_path / f"spool-{PLACE}" / OWN).read_bytes() == b"abcdefg"
    spool.remove(PLACE, ["attempts/b1"])
    assert spool.write(PLACE, OWN, 6, b"") == 0
    assert not (tmp_path / f"spool-{PLACE}" / OWN).exists()


def test_what_a_disk_takes_of_a_part_is_told(tmp_path: Path) -> None:
    spool = spool_at(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, hard))
    try:
        n_bytes = spool.write(PLACE, OWN, 0, b"x" * 64)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (n_bytes, spool.write(PLACE, OWN, 40, b"x" * 24)) == (40, 64)


def test_samples_replace_the_older_ones(tmp_path: Path) -> None:
    spool, path = spool_at(tmp_path), f"{OWN}.usage"
    assert spool.write(PLACE, path, 0, b"x" * 96) == 96
    assert spool.write(PLACE, path, 0, b"y" * 48) == 48
    assert (tmp_path / f"spool-{PLACE}" / path).read_bytes() == b"y" * 48


def test_an_attempt_has_a_bound_over_all_its_files(tmp_path: Path) -> None:
    spool = spool_at(tmp_path, attempt_bytes_max=2048)
    assert spool.write(PLACE, OWN, 0, b"x" * 1500) == 1500
    with pytest.raises(SpoolFull, match="no more"):
        spool.write(PLACE, f"{OWN}.7", 0, b"x" * 600)
    assert spool.write(PLACE, "attempts/b1/0/2.1", 0, b"x" * 1500) == 1500
    again = spool_at(tmp_path, attempt_bytes_max=2048)  # after a restart
    with pytest.raises(SpoolFull):
        again.write(PLACE, OWN, 1500, b"x" * 600)
    for part in range(1, 5):  # short ones count as some
        again.write(PLACE, f"attempts/b1/0/3.1.{part}", 0, b"x")
    with pytest.raises(SpoolFull):
        again.write(PLACE, "attempts/b1/0/3.1.5", 0, b"x")


def test_a_worker_has_a_bound_that_counts_what_is_no_output(tmp_path: Path) -> None:
    spool = spool_at(tmp_path, worker_bytes_max=3000)
    spool.write(PLACE, "segments/00000001", 0, b"x" * 2000)
    list(spool.look())
    with pytest.raises(SpoolFull):
        spool.write(PLACE, OWN, 0, b"x" * 2000)
    other = "1" * 32
    assert spool.write(other, OWN, 0, b"x" * 2000) == 2000
    with pytest.raises(SpoolFull):
        spool_at(tmp_path, worker_bytes_max=3000).write(PLACE, OWN, 0, b"x" * 2000)


def test_nothing_is_taken_while_the_disk_is_nearly_full(tmp_path: Path) -> None:
    with pytest.raises(DiskFull):
        spool_at(tmp_path, free_bytes_min=1 << 60).write(PLACE, OWN, 0, b"x")


def test_batches_are_refused_until_told_otherwise(tmp_path: Path) -> None:
    spool = spool_at(tmp_path)
    spool.refuse([1])
    with pytest.raises(SpoolFull):
        spool.write(PLACE, OWN, 0, b"x")
    spool.refuse([])
    assert spool.write(PLACE, OWN, 0, b"x") == 1


def segment_with(tmp_path: Path, *keys: AttemptKey) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a segment as a spawner writes it, and where the records are."""
    segments = Segments(str(tmp_path / "worker"))
    places = segments.append([(key, encode_piece(STDOUT, 0, b"hello")) for key in keys])
    (file,) = (tmp_path / "worker" / "segments").iterdir()
    return file.read_bytes(), places


def test_records_of_deleted_batches_are_erased_where_they_stand(tmp_path: Path) -> None:
    data, places = segment_with(tmp_path, AttemptKey(1, 1, 1), AttemptKey(2, 1, 1))
    spool, logs = spool_at(tmp_path / "logs"), FileLogStore(tmp_path / "logs")
    name = f"segments/{places[0][0]:08d}"
    spool.write(PLACE, name, 0, data)
    assert {one.batch_id for one in spool.look()} == {0, 1, 2}
    assert spool.forget([1]) > 0
    file = tmp_path / "logs" / f"spool-{PLACE}" / name
    assert (file.read_bytes().count(b"hello"), file.stat().st_size) == (1, len(data))
    assert {one.batch_id for one in spool.look()} == {0, 2}
    spool.write(PLACE, name, 0, data)  # a repeat brings nothing back
    assert file.read_bytes().count(b"hello") == 1
    assert logs.why_gone(log_of(2, 1, places[1])) is None


def test_removed_output_says_why(tmp_path: Path) -> None:
    data, places = segment_with(tmp_path, AttemptKey(1, 1, 1), AttemptKey(1, 2, 1))
    spool, logs = spool_at(tmp_path / "logs"), FileLogStore(tmp_path / "logs")
    name = f"segments/{places[0][0]:08d}"
    spool.write(PLACE, name, 0, data)
    spool.write(PLACE, "attempts/b1/0/3.1", 0, encode_piece(STDOUT, 0, b"long"))
    (found,) = [one for one in spool.look() if one.batch_id]
    assert list(spool.jobs_of(found, before=None)) == [1, 2, 3]
    newest = (tmp_path / "logs" / f"spool-{PLACE}" / name).stat().st_mtime
    assert list(spool.jobs_of(found, before=newest - 1)) == []
    assert spool.drop(found, {1, 3}.__contains__, before=None, why="It was old.") > 0
    assert logs.why_gone(log_of(1, 1, places[0])) == "It was old."
    assert logs.why_gone(log_of(1, 2, places[1])) is None
    assert logs.why_gone(log_of(1, 3)) == "It was old."


def test_segments_without_records_are_removed_but_the_last(tmp_path: Path) -> None:
    data, _ = segment_with(tmp_path, AttemptKey(1, 1, 1))
    spool, directory = spool_at(tmp_path / "logs"), tmp_path / "logs" / f"spool-{PLACE}"
    for number in (1, 2):
        spool.write(PLACE, f"segments/{number:08d}", 0, data)
    spool.forget([1])
    assert [one.name for one in (directory / "segments").iterdir()] == ["00000002"]


def checkpoint_of(body: bytes, attempt: int = 1) -> CheckpointFound:
    return CheckpointFound(attempt, len(body), hashlib.sha256(body).digest())


def test_a_checkpoint_is_found_when_it_is_whole_and_replaces_the_older_one(tmp_path: Path) -> None:
    spool, body, other = spool_at(tmp_path), b"x" * 5000, "1" * 32
    one, two = AttemptKey(1, 1, 1), AttemptKey(1, 1, 2)
    assert spool.write_checkpoint(PLACE, one, 3, b"d", checkpoint_of(body)) == 0
    assert spool.write_checkpoint(PLACE, one, 0, body[:3000], checkpoint_of(body)) == 3000
    assert spool.write_checkpoint(PLACE, one, 4000, b"d", checkpoint_of(body)) == 3000
    assert spool.find_checkpoint(1, 1) is None
    assert spool.write_checkpoint(PLACE, one, 3000, body[3000:], checkpoint_of(body)) == 5000
    assert spool.find_checkpoint(1, 1) == checkpoint_of(body)
    assert spool.read_checkpoint(1, 1, 4999, 10) == b"x"
    assert spool.read_checkpoint(1, 1, 5000, 10) == b""
    assert spool.write_checkpoint(other, two, 0, b"new", checkpoint_of(b"new", 2)) == 3
    assert spool.find_checkpoint(1, 1) == checkpoint_of(b"new", 2)
    assert [one.parts[-5] for one in tmp_path.rglob("*.checkpoint")] == [f"spool-{other}"]
    assert [one.checkpoints for one in spool.look() if one.batch_id] == [(1,)]
    assert spool.forget_checkpoints({(1, 1), (1, 2)}) == 3 + 40
    assert spool.find_checkpoint(1, 1) is None


def test_a_checkpoint_has_its_digest_its_bound_and_its_place(tmp_path: Path) -> None:
    spool, key = spool_at(tmp_path, attempt_bytes_max=2048), AttemptKey(1, 1, 1)
    with pytest.raises(ValueError, match="digest"):
        spool.write_checkpoint(PLACE, key, 0, b"abc", checkpoint_of(b"abd"))
    with pytest.raises(SpoolFull):
        spool.write_checkpoint(PLACE, key, 0, b"abc", CheckpointFound(1, 2049, bytes(32)))
    with pytest.raises(ValueError, match="part"):
        spool.write_checkpoint(PLACE, key, 1, b"abc", checkpoint_of(b"abc"))
    with pytest.raises(ValueError, match="no file of output"):
        spool.write(PLACE, f"{OWN}.checkpoint", 0, b"x")
    assert not list(tmp_path.rglob("1.1*"))
    said = CheckpointFound(1, 2, bytes(32))
    assert spool.write_checkpoint(PLACE, key, 0, b"x", said) == 1
    for other in (said._replace(n_bytes=1 << 50), said._replace(digest=b"y" * 32)):
        with pytest.raises(ValueError, match="first part said another"):  # or it fills the disk
            spool.write_checkpoint(PLACE, key, 1, b"y", other)
    assert sum(one.stat().st_size for one in tmp_path.rglob("*.arriving")) == 41
    body = b"x" * 2000
    spool.write_checkpoint(PLACE, key, 0, body, checkpoint_of(body))
    assert spool.write(PLACE, OWN, 0, b"x" * 2000) == 2000, "its output has a bound of its own"


def test_each_part_of_a_checkpoint_needs_room(tmp_path: Path) -> None:
    spool, key = spool_at(tmp_path, worker_bytes_max=4096), AttemptKey(1, 1, 1)
    body = b"x" * 3000
    assert spool.write_checkpoint(PLACE, key, 0, body[:1000], checkpoint_of(body)) == 1000
    spool.write(PLACE, "segments/00000001", 0, b"x" * 2000)
    with pytest.raises(SpoolFull):
        spool.write_checkpoint(PLACE, key, 1000, body[1000:], checkpoint_of(body))


def test_a_checkpoint_that_begins_again_counts_once(tmp_path: Path) -> None:
    spool, key = spool_at(tmp_path, worker_bytes_max=4096), AttemptKey(1, 1, 1)
    body = b"x" * 3000
    for _ in range(10):
        assert spool.write_checkpoint(PLACE, key, 0, body[:2000], checkpoint_of(body)) == 2000
    for _ in range(10):  # what has another digest is gone, too
        with pytest.raises(ValueError, match="its digest"):
            spool.write_checkpoint(PLACE, key, 0, body, CheckpointFound(1, 3000, bytes(32)))
    assert spool.write_checkpoint(PLACE, key, 0, body, checkpoint_of(body)) == 3000
    assert spool.write_checkpoint(PLACE, key, 0, b"y", checkpoint_of(b"y")) == 1
    assert spool.write(PLACE, OWN, 0, b"x" * 4000) == 4000


def test_an_attempt_does_not_replace_the_checkpoint_of_a_later_one(tmp_path: Path) -> None:
    spool, old, new = spool_at(tmp_path), AttemptKey(1, 1, 1), AttemptKey(1, 1, 2)
    spool.write_checkpoint(PLACE, old, 0, b"o", checkpoint_of(b"older"))
    spool.write_checkpoint("1" * 32, new, 0, b"n", checkpoint_of(b"newer", 2))
    with pytest.raises(ValueError, match="a later attempt"):  # while it arrives, too
        spool.write_checkpoint(PLACE, old, 1, b"lder", checkpoint_of(b"older"))
    spool.write_checkpoint("1" * 32, new, 1, b"ewer", checkpoint_of(b"newer", 2))
    with pytest.raises(ValueError, match="a later attempt"):
        spool.write_checkpoint(PLACE, old, 0, b"older", checkpoint_of(b"older"))
    assert spool.read_checkpoint(1, 1, 0, 10) == b"newer"


def test_folders_of_one_owner_have_one_bound(tmp_path: Path) -> None:
    other, strange = "1" * 32, "2" * 32
    spool = spool_at(tmp_path, worker_bytes_max=3000)
    for folder, owner in ((PLACE, "a"), (other, "a"), (strange, "b")):
        spool.begin(folder, owner)
        spool.begin(folder, "c")  # the first one counts
    spool.write(PLACE, OWN, 0, b"x" * 2000)
    for one in (spool, spool_at(tmp_path, worker_bytes_max=3000)):
        list(one.look())
        with pytest.raises(SpoolFull):
            one.write(other, OWN, 0, b"x" * 2000)
    assert spool.write(strange, OWN, 0, b"x" * 2000) == 2000


@pytest.mark.parametrize(("batch_id", "job_id"), [(1 << 63, 1), (0, 1), (1, 1 << 31), (1, 0)])
def test_records_of_jobs_that_cannot_be_are_none(
    tmp_path: Path, batch_id: int, job_id: int
) -> None:
    data, places = segment_with(tmp_path, AttemptKey(1, 1, 1))
    forged = RECORD.pack(RECORD_MAGIC, batch_id, job_id, 1, 3) + b"abc"
    spool = spool_at(tmp_path / "logs")
    spool.write(PLACE, f"segments/{places[0][0]:08d}", 0, data + forged + data)
    found = {one.batch_id: one.n_bytes for one in spool.look()}
    assert found == {0: len(data) + len(forged), 1: len(data)}
    shipped, end = records_of(data + forged, 0)
    assert ([one.key for one in shipped], end) == ([AttemptKey(1, 1, 1)], len(data + forged))
