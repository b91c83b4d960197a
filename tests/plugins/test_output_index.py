"""Windows of long outputs: what one pass over all pieces would give, without that pass."""

import os
import tracemalloc
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.plugins.log_stores.files.reader import OutputIndex, PartReader
from weft.ports.log_store import Extent
from weft.wire.log_format import (
    CUT,
    PIECE,
    STDERR,
    STDOUT,
    Piece,
    count_pieces,
    cut_out,
    encode_cut,
    encode_piece,
    part_path,
)

STREAMS = st.sampled_from([STDOUT, STDERR])
PIECES = st.lists(
    st.builds(Piece, STREAMS, st.just(0), st.binary(min_size=1, max_size=9))
    | st.builds(encode_cut, STREAMS, st.just(0), st.just(7), st.just(2)),
    max_size=30,
)


def write_parts(own: Path, pieces: list[Piece], bounds: list[int]) -> None:
    """Write pieces into parts that begin at these indexes."""
    number = 0
    for first, last in pairwise([0, *sorted(bounds), len(pieces)]):
        some = pieces[first:last]
        if some or not first:
            Path(part_path(str(own), number)).write_bytes(
                b"".join(encode_piece(*one) for one in some)
            )
        number += sum(map(count_pieces, some))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PIECES, st.lists(st.integers(1, 30), max_size=3), st.integers(0, 60), st.integers(0, 60))
def test_windows_are_what_one_pass_gives(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pieces: list[Piece],
    bounds: list[int],
    start: int,
    size: int,
) -> None:
    monkeypatch.setattr("weft.plugins.log_stores.files.reader._MARK_BYTES", 40)
    for old in tmp_path.iterdir():
        old.unlink()
    own = tmp_path / "1.1"
    write_parts(own, pieces, [min(one, len(pieces)) for one in bounds])
    found = OutputIndex(own)
    extent = found.look(is_final=False)

    with closing(PartReader(own, 0)) as reader:
        everything = list(reader.read())
    assert extent.n_pieces == sum(map(count_pieces, everything))
    for stream in (None, STDOUT, STDERR):
        some = [one for one in everything if one.kind != CUT and stream in {None, one.kind}]
        assert extent.count(stream) == sum(len(one.data) for one in some)
        window = list(found.pieces(stream, start, start + size))
        assert window == list(cut_out(everything, 0, stream, start, start + size))
        data = b"".join(one.data for one in window if one.kind != CUT)
        assert data == b"".join(one.data for one in some)[start : start + size]


def test_growth_and_parts_that_were_shortened_are_seen(tmp_path: Path) -> None:
    own = tmp_path / "1.1"
    found = OutputIndex(own)
    assert found.look(is_final=False) == Extent(0, 0, 0)
    one, torn = encode_piece(STDOUT, 0, b"aaaa"), encode_piece(STDERR, 0, b"bb")
    own.write_bytes(one + torn[:-1])
    assert found.look(is_final=False) == Extent(4, 0, 1)
    with own.open("ab") as file:
        file.write(torn[-1:])
    Path(part_path(str(own), 2)).write_bytes(one)
    assert found.look(is_final=False) == Extent(8, 2, 3)
    fresh = tmp_path / "fresh"
    fresh.write_bytes(encode_piece(*encode_cut(STDOUT, 0, 4, 1)) + torn)
    fresh.replace(own)
    assert [piece.data for piece in found.pieces(STDOUT, 0, 9)] == [b"aaaa"]  # and not what moved
    assert found.look(is_final=True) == Extent(4, 2, 3)
    own.unlink()
    assert [piece.data for piece in found.pieces(None, 2, 9)] == [b"aaaa"]


def test_the_end_of_a_gigabyte_is_read_without_the_rest(tmp_path: Path) -> None:
    own = tmp_path / "1.1"
    n_pieces, size = 1024, 1 << 20
    with own.open("wb") as file:
        for number in range(n_pieces):  # the bodies are holes
            os.pwrite(file.fileno(), PIECE.pack(STDOUT, size, 0), number * (PIECE.size + size))
        file.truncate(n_pieces * (PIECE.size + size))
    found = OutputIndex(own)
    tracemalloc.start()

    extent = found.look(is_final=False)
    window = list(found.pieces(None, extent.stdout_bytes - 100, extent.stdout_bytes))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (extent.stdout_bytes, [len(one.data) for one in window]) == (1 << 30, [100])
    assert peak < 8 * size
