"""What the spawner stores of an output, and what the log store reads of it."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.plugins.log_stores.files.reader import FileReader
from weft.plugins.log_stores.files.store import FileLogStore
from weft.ports.log_store import AttemptLog
from weft.store.worker_files import location_columns, location_of
from weft.wire.log_format import (
    CUT,
    CUT_BODY,
    LOG_LOCATION_BYTES,
    RECORD,
    RECORD_MAGIC,
    STDERR,
    STDOUT,
    Piece,
    count_pieces,
    encode_piece,
    own_path,
    segment_location,
)
from weft.worker.spawner.attempt import Capacity
from weft.worker.spawner.output import Output, OutputSizes, output_path
from weft.worker.spawner.own_file import PartSizes
from worker.pieces import each

STREAMS = (STDOUT, STDERR)
writes = st.lists(
    st.tuples(
        st.sampled_from([STDOUT, STDOUT, STDOUT, STDERR]), st.binary(min_size=1, max_size=300)
    ),
    min_size=1,
    max_size=80,
)


SMALL = OutputSizes(flush_bytes=50, join_ms=-1, parts=PartSizes(200, 200))
"""Every write is a piece, and a part has a few of them."""


class Stored(NamedTuple):
    """What was written and where it is."""

    log: AttemptLog
    data: dict[int, bytes]
    pieces: int


def log_of(output: Output, *, ended: bool = True) -> AttemptLog:
    return AttemptLog(
        1,
        1,
        1,
        ended=ended,
        location=segment_location(1, 0) if output.is_short else None,
        stdout_bytes=output.totals[STDOUT],
        stderr_bytes=output.totals[STDERR],
        truncated=output.truncated,
        state="success",
    )


def store(root: Path, written: list[tuple[int, bytes]], *, limit: int, head: int) -> Stored:
    """Write as the spawner does."""
    output = Output(
        output_path(str(root), 1, 1, 1), 0, bytes_max=limit, head_bytes=head, sizes=SMALL
    )
    data = dict.fromkeys(STREAMS, b"")
    for number, (stream, text) in enumerate(written):
        output.add(stream, text, number * 100_000_000)
        data[stream] += text
    output.finish()
    if output.is_short:
        body = output.short_pieces()
        (root / "segments").mkdir()
        record = RECORD.pack(RECORD_MAGIC, 1, 1, 1, len(body)) + body
        (root / "segments" / "00000001").write_bytes(record)
    return Stored(log_of(output), data, len(written))


def kept(data: bytes, limit: int, head: int) -> bytes:
    """Say it plainly."""
    return data if len(data) <= limit else data[:head] + data[len(data) - (limit - head) :]


@given(writes, st.sampled_from([1, 10, 100, 1000, 3000]), st.sampled_from([0.0, 0.3, 1.0]))
def test_head_and_tail_are_kept_and_the_cut_is_said(
    written: list[tuple[int, bytes]], limit: int, head_share: float
) -> None:
    head = int(limit * head_share)
    with tempfile.TemporaryDirectory() as directory:
        stored = store(Path(directory), written, limit=limit, head=head)
        log = FileReader(Path(directory))
        pieces = list(log.pieces(stored.log, 0))

        assert sum(map(count_pieces, pieces)) == stored.pieces
        for stream in STREAMS:
            expected = kept(stored.data[stream], limit, head)
            assert b"".join(p.data for p in pieces if p.kind == stream) == expected
            assert left_out(pieces, stream) == len(stored.data[stream]) - len(expected)
            assert log.size(stored.log, stream) == len(expected)


def left_out(pieces: list[Piece], stream: int) -> int:
    cuts = [CUT_BODY.unpack(piece.data) for piece in pieces if piece.kind == CUT]
    return sum(n_bytes for of, n_bytes, _ in cuts if of == stream)


@given(writes, st.integers(0, 90), st.integers(1, 400))
def test_reading_may_begin_anywhere(
    written: list[tuple[int, bytes]], after: int, block: int
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        stored = store(Path(directory), written, limit=1 << 20, head=0)
        log = FileReader(Path(directory))
        rest = [(piece.kind, piece.data) for piece in log.pieces(stored.log, after)]

        assert rest == written[after:]
        for stream, data in stored.data.items():
            read = [
                log.read(stored.log, stream, start, min(start + block, len(data)))
                for start in range(0, len(data), block)
            ]
            assert b"".join(read) == data


def test_range_in_the_middle_and_backwards(tmp_path: Path) -> None:
    stored = store(tmp_path, [(STDOUT, b"0123456789")], limit=100, head=0)
    log = FileReader(tmp_path)

    assert log.read(stored.log, STDOUT, 3, 6) == b"345"
    assert log.read(stored.log, STDOUT, 6, 99) == b"6789"
    assert log.read(stored.log, STDOUT, 0, 2) == b"01"
    assert log.read(stored.log, STDERR, 0, 2) == b""


def test_record_of_another_attempt_is_not_shown(tmp_path: Path) -> None:
    stored = store(tmp_path, [(STDOUT, b"secret")], limit=100, head=0)
    other = AttemptLog(
        1,
        2,
        1,
        ended=True,
        location=segment_location(1, 0),
        stdout_bytes=6,
        stderr_bytes=0,
        truncated=False,
        state="success",
    )

    assert list(FileReader(tmp_path).pieces(other, 0)) == []
    assert list(FileReader(tmp_path).pieces(stored.log, 0)) != []


@pytest.mark.parametrize("segment", [1, None])
def test_output_that_is_gone_is_empty(tmp_path: Path, segment: int | None) -> None:
    place = AttemptLog(
        1,
        2,
        1,
        ended=True,
        location=segment_location(segment, 0),
        stdout_bytes=6,
        stderr_bytes=0,
        truncated=False,
        state="success",
    )

    assert list(FileReader(tmp_path).pieces(place, 0)) == []
    assert FileReader(tmp_path).read(place, STDOUT, 0, 10) == b""


def test_torn_piece_at_the_end_is_left_out_until_it_is_whole(tmp_path: Path) -> None:
    own = own_path(tmp_path, 1, 1, 1)
    own.parent.mkdir(parents=True)
    second = encode_piece(STDOUT, 1, b"second")
    own.write_bytes(encode_piece(STDOUT, 0, b"first") + second[:-2])
    place = AttemptLog(
        1,
        1,
        1,
        ended=False,
        location=None,
        stdout_bytes=0,
        stderr_bytes=0,
        truncated=False,
        state="running",
    )

    async def follow() -> list[bytes]:
        found = []
        async with asyncio.timeout(60):
            async for piece in each(FileLogStore(tmp_path).follow(place, 0)):
                found.append(piece.data)
                if len(found) == 1:
                    with own.open("ab") as file:
                        file.write(second[-2:])
                if len(found) == 2:
                    return found
        return found

    assert asyncio.run(follow()) == [b"first", b"second"]


def test_follower_crosses_parts_and_resumes(tmp_path: Path) -> None:
    path = output_path(str(tmp_path), 1, 1, 1)
    output = Output(path, 0, bytes_max=1 << 20, head_bytes=0, sizes=SMALL)
    for number in range(50):
        output.add(STDOUT, b"%03d " % number * 20, number * 100_000_000)
    output.flush()
    place = log_of(output, ended=False)

    async def follow(after: int) -> list[bytes]:
        found: list[bytes] = []
        async with asyncio.timeout(60):
            async for piece in each(FileLogStore(tmp_path).follow(place, after)):
                found.append(piece.data[:3])
                if piece.data.startswith(b"049"):
                    return found
        return found

    assert len(os.listdir(own_path(tmp_path, 1, 1, 1).parent)) > 5  # noqa: PTH208
    assert asyncio.run(follow(0)) == [b"%03d" % number for number in range(50)]
    assert asyncio.run(follow(33)) == [b"%03d" % number for number in range(33, 50)]


def test_follower_that_lags_behind_a_cut_is_told_a_gap(tmp_path: Path) -> None:
    path = output_path(str(tmp_path), 1, 1, 1)
    output = Output(path, 0, bytes_max=1000, head_bytes=100, sizes=SMALL)
    for number in range(100):
        output.add(STDOUT, b"%03d " % number * 20, number * 100_000_000)
    output.finish()
    pieces = list(FileReader(tmp_path).pieces(log_of(output), 10))

    assert sum(map(count_pieces, pieces)) == 90
    assert pieces[0].kind == CUT
    assert pieces[-1].data.startswith(b"099")


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 3000)), max_size=30))
def test_never_more_is_taken_than_there_is(wishes: list[tuple[int, int]]) -> None:
    capacity = Capacity(2000, 1000)
    taken = [one for wish in wishes if (one := capacity.take(*wish)) is not None]

    assert sum(one[0] for one in taken) == capacity.cpu_m_taken <= 2000
    assert sum(one[1] for one in taken) == capacity.memory_mib_taken <= 1000
    for one in taken:
        capacity.give_back(one)
    assert (capacity.cpu_m_taken, capacity.memory_mib_taken) == (0, 0)


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1))
def test_the_database_keeps_locations_as_older_workers_do(segment: int, offset: int) -> None:
    location = segment_location(segment, offset)

    assert location is not None
    assert len(location) == LOG_LOCATION_BYTES
    assert location_columns([location, None]) == ([segment, None], [offset, None])
    assert location_of(segment, offset) == location
