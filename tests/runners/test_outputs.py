"""Which bytes of a stream are stored while it grows, and when it has ended; what attempts left at
an engine is put where the agent looks for it.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from runners.directory_engine import DirectoryEngine
from weft.core.files.products import WrongProducts
from weft.core.states import AttemptKey, Reason
from weft.plugins.log_stores.files.plugin import FileLogWriter
from weft.plugins.runners.remote import Left
from weft.plugins.runners.remote.ends import LeftFiles
from weft.plugins.runners.remote.outputs import live_bytes
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored, StoredStream
from weft.ports.runner import Ended, never_started
from weft.wire.log_format import CUT, STDOUT, Piece
from weft_slurm.runner.folder import SharedFiles

LIMITS = ExecutorLimits(grace_ms=0, stream_bytes_max=100, stream_head_bytes=10)
NAME = "weft-b1-j1-a1"
KEY = AttemptKey(1, 1, 1)


def of(pieces: list[Piece]) -> list[tuple[int, bytes]]:
    return [(one.kind, one.data if one.kind != CUT else b"") for one in pieces]


@pytest.mark.parametrize("live", [0, 5, 10, 30, 50])
@pytest.mark.parametrize("torn", [0, 1, 2, 3])
async def test_long_output_keeps_beginning_and_end_wherever_a_gateway_died(
    live: int, torn: int, tmp_path: Path
) -> None:
    """It had stored some of it live, and some pieces of the rest."""
    root, writer = tmp_path / "slurm", FileLogWriter(tmp_path / "logs")
    files = SharedFiles(root)
    await files.known()
    await files.put({NAME: {"job": ""}})
    written = bytes(range(250))
    (root / NAME / "out").write_bytes(written)
    head = [Piece(STDOUT, 0, written[:live])] if live else []
    await writer.append(KEY, head, after=0)
    rest = await files.output(NAME, await writer.stored(KEY), LIMITS)
    await writer.append(KEY, rest[:torn], after=len(head))
    stored = await FileLogWriter(tmp_path / "logs").stored(KEY)
    after = await files.output(NAME, stored, LIMITS)
    await writer.append(KEY, after, after=stored.n_pieces)

    n_head = max(live, 10)
    kept = b"".join(one.data for one in [*head, *rest[:torn], *after] if one.kind == STDOUT)
    assert kept == written[:n_head] + written[250 - (100 - n_head) :]
    assert (await writer.stored(KEY)).stdout == StoredStream(250, 100)
    assert await files.output(NAME, await writer.stored(KEY), LIMITS) == []


async def test_what_is_live_leaves_room_for_the_end(tmp_path: Path) -> None:
    """Half of what is kept."""
    files = SharedFiles(tmp_path)
    await files.put({NAME: {"job": ""}})
    (tmp_path / NAME / "out").write_bytes(b"x" * 70)
    stored = Stored()
    grown = (await files.grown({NAME: stored}, LIMITS))[NAME]
    assert of([*grown]) == [(STDOUT, b"x" * 50)]
    assert await files.grown({NAME: stored.plus(grown)}, LIMITS) == {NAME: []}
    huge = ExecutorLimits(grace_ms=0, stream_bytes_max=1 << 30, stream_head_bytes=0)
    assert live_bytes(StoredStream(), huge) == 1 << 18


LEFT_KEY = AttemptKey(1, 2, 3)
ENDED = Ended(LEFT_KEY, 1, 2, exit_code=0)
LEFT_LIMITS = ExecutorLimits(grace_ms=1, stream_bytes_max=1, stream_head_bytes=1)


class Leaving(DirectoryEngine):
    """An engine whose attempts leave this."""

    what: Left | None = None

    async def left(self, name: str) -> Left:
        assert name == LEFT_KEY.name
        if self.what is None:
            raise WrongProducts("a part of them came")
        return self.what


async def test_it_is_written_once_it_has_ended(tmp_path: Path) -> None:
    """For its owner alone, in the place of what an earlier agent wrote."""
    limits = replace(LEFT_LIMITS, product_files=f"{tmp_path}/p", block_files=f"{tmp_path}/a")
    engine = Leaving(tmp_path / "engine")
    for engine.what in (Left(), Left(b"old", b"why"), Left(b"new")):
        assert await LeftFiles(limits).bring(engine, ENDED) == ENDED
    path = tmp_path / "p" / LEFT_KEY.name

    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "a" / LEFT_KEY.name).read_bytes() == b"why"


async def test_what_came_in_part_is_no_success(tmp_path: Path) -> None:
    limits = replace(LEFT_LIMITS, product_files=f"{tmp_path}/p")
    ended = await LeftFiles(limits).bring(Leaving(tmp_path / "engine"), ENDED)

    assert ended.reason == Reason.FILES
    assert ended.message == "its products cannot be kept: a part of them came"


async def test_nothing_is_asked_of_what_did_not_run(tmp_path: Path) -> None:
    """Nor where the agent looks nowhere."""
    limits = replace(LEFT_LIMITS, product_files=f"{tmp_path}/p")
    never = never_started(LEFT_KEY, Reason.CANCELLED, now_ns=1)
    engine = Leaving(tmp_path / "engine")

    assert await LeftFiles(limits).bring(engine, never) == never
    assert await LeftFiles(LEFT_LIMITS).bring(engine, ENDED) == ENDED
