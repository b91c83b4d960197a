"""A follower that looks while a job starts and ends."""

from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

from weft.api.http.sse import encode_followed
from weft.api.services import Services
from weft.api.use_cases.follow import Follower, FollowPosition
from weft.ports.log_store import AttemptLog
from weft.ports.store import Caller
from weft.wire.log_format import STDOUT, Piece, segment_location

ENDED = AttemptLog(
    batch_id=1, job_id=1, attempt=1, ended=True, location=segment_location(0, 0),
    stdout_bytes=3, stderr_bytes=0, truncated=False, state="success",
)  # fmt: skip


class QuickJob:
    """A job that starts and ends between two questions."""

    def why_gone(self, _: object) -> None:
        return None

    def __init__(self) -> None:
        self.n_questions = 0

    async def list_attempt_logs(self, *_: object) -> Sequence[AttemptLog]:
        self.n_questions += 1
        return [] if self.n_questions == 1 else [ENDED]

    async def get_job(self, *_: object) -> dict[str, Any]:
        return {"state": "success", "attempt": 1, "exit_code": 0}

    async def pieces(self, _: AttemptLog, after: int) -> AsyncIterator[Sequence[Piece]]:
        yield [Piece(STDOUT, 0, b"hi\n")][after:]


async def test_a_job_that_ends_between_two_looks_keeps_its_output() -> None:
    job = QuickJob()
    services = cast("Services", SimpleNamespace(store=job, logs=job))
    caller = Caller(tenant_id=1, user_id=1, user_name="me")
    follower = Follower(services, caller, 1, 1, attempt=None, stream=None, at=FollowPosition())
    feed: Any = SimpleNamespace(next_changes=lambda _: None)  # all that is asked of it

    first = [item async for items in follower._step(feed) for item in items]
    second = [encode_followed(i) async for items in follower._step(feed) for i in items]

    assert first == []
    assert b"event: stdout\ndata: aGkK\n" in second[0]
    assert second[1].startswith(b"event: end\n")
