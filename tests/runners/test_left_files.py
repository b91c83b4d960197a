"""What attempts left at an engine is put where the agent looks for it."""

from dataclasses import replace
from pathlib import Path

from runners.directory_engine import DirectoryEngine
from weft.core.files.products import WrongProducts
from weft.core.states import AttemptKey, Reason
from weft.plugins.runners.remote import Left
from weft.plugins.runners.remote.ends import LeftFiles
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Ended, never_started

KEY = AttemptKey(1, 2, 3)
ENDED = Ended(KEY, 1, 2, exit_code=0)
LIMITS = ExecutorLimits(grace_ms=1, stream_bytes_max=1, stream_head_bytes=1)


class Leaving(DirectoryEngine):
    """An engine whose attempts leave this."""

    what: Left | None = None

    async def left(self, name: str) -> Left:
        assert name == KEY.name
        if self.what is None:
            raise WrongProducts("a part of them came")
        return self.what


async def test_it_is_written_once_it_has_ended(tmp_path: Path) -> None:
    """For its owner alone, in the place of what an earlier agent wrote."""
    limits = replace(LIMITS, product_files=f"{tmp_path}/p", block_files=f"{tmp_path}/a")
    engine = Leaving(tmp_path / "engine")
    for engine.what in (Left(), Left(b"old", b"why"), Left(b"new")):
        assert await LeftFiles(limits).bring(engine, ENDED) == ENDED
    path = tmp_path / "p" / KEY.name

    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "a" / KEY.name).read_bytes() == b"why"


async def test_what_came_in_part_is_no_success(tmp_path: Path) -> None:
    limits = replace(LIMITS, product_files=f"{tmp_path}/p")
    ended = await LeftFiles(limits).bring(Leaving(tmp_path / "engine"), ENDED)

    assert ended.reason == Reason.FILES
    assert ended.message == "its products cannot be kept: a part of them came"


async def test_nothing_is_asked_of_what_did_not_run(tmp_path: Path) -> None:
    """Nor where the agent looks nowhere."""
    limits = replace(LIMITS, product_files=f"{tmp_path}/p")
    never = never_started(KEY, Reason.CANCELLED, now_ns=1)
    engine = Leaving(tmp_path / "engine")

    assert await LeftFiles(limits).bring(engine, never) == never
    assert await LeftFiles(LIMITS).bring(engine, ENDED) == ENDED
