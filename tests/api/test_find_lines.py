"""Output of jobs: lines that are searched, followed, and asked for by their head."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

from httpx import AsyncClient
from hypothesis import given
from hypothesis import strategies as st

from api.live import DEADLINE_S, LiveWorker
from api.test_logs import submit
from weft.api.http.sse import encode_followed
from weft.api.services import Services
from weft.api.use_cases.find_lines import LINE_BYTES_MAX, LineSearch, Position
from weft.api.use_cases.follow import Follower, FollowPosition
from weft.ports.log_store import AttemptLog
from weft.ports.store import Caller
from weft.settings import Settings
from weft.wire.log_format import STDERR, STDOUT, Piece, segment_location

FIRST = Position()
Told = tuple[int, bytes, Position]


SETTINGS = {"find_bytes_max": 1}


def found(*blocks: bytes, text: bytes = b"ab", begin: Position = FIRST) -> list[Told]:
    """Return the lines that blocks have from a position on, with their numbers, and where to go
    on.
    """
    data, blocks = b"".join(blocks), blocks if begin == FIRST else ()
    search, told = LineSearch(text, begin), list[Told]()
    for block in blocks or (data[begin.at :],):
        is_last = search.read_to + len(block) == len(data)
        told += [
            (at.number if at.is_told else at.number - 1, line, at)
            for line, at in search.feed(block, is_last=is_last)
        ]
    return told


def without_positions(told: list[Told]) -> list[tuple[int, bytes]]:
    return [(number, line) for number, line, _ in told]


def test_lines_are_found_across_blocks() -> None:
    """Each once, with its number; also the last one, which has no line break."""
    lines = found(b"xa", b"b\nno\nab ab\na\nb")
    assert without_positions(lines) == [(1, b"xab"), (3, b"ab ab")]
    assert without_positions(found(b"no\nz", b"a", b"b")) == [(2, b"zab")]


def test_long_line_is_found_in_parts_and_told_once() -> None:
    long = b"x" * LINE_BYTES_MAX
    told = found(long + b"a", b"b" + long, b"ab\n", b"ab\n")
    assert [number for number, *_ in told] == [1, 2]
    assert all(b"ab" in line for _, line, _ in told)


@given(data=st.text("ab\n", max_size=60))
def test_search_may_go_on_behind_each_line(data: str) -> None:
    whole = found(data.encode())
    for n_told, (*_, at) in enumerate(whole, 1):
        assert found(data.encode(), begin=at) == whole[n_told:]


async def pages(http: AsyncClient, path: str, **query: Any) -> list[list[dict[str, Any]]]:  # noqa: ANN401 (a query)
    """Return the items of all pages."""
    result: list[list[dict[str, Any]]] = []
    cursor: str | None = None
    while cursor is not None or not result:
        answer = await http.get(path, params={**query, **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.text
        result.append(answer.json()["items"])
        cursor = answer.json()["cursor"]
    return result


async def test_search_goes_on_where_a_page_ended(http: AsyncClient, worker: LiveWorker) -> None:
    """Also within the output of a job; jobs that never started have nothing."""
    batch_id = await submit(http, {}, {}, {"name": "n"}, {"parents": [1]})
    claimed = await worker.claim_and_start()
    for each in claimed:
        worker.write(each, (STDOUT, b"a bug\nfine\nbug 2\n"), (STDERR, b"no\nbug!"))
    await worker.end(claimed, output=(17, 7))
    path = f"/v1/batches/{batch_id}/logs"

    whole = await pages(http, path, find="bug")
    small = await pages(http, path, find="bug", limit=2)
    one = await pages(http, path, find="bug", q="name = n", stream="stderr")

    lines = [("stdout", 1, "a bug"), ("stdout", 3, "bug 2"), ("stderr", 2, "bug!")]
    keys = ("job_id", "stream", "number", "line")
    told = [tuple(item[key] for key in keys) for page in whole for item in page]
    assert told == [(job, *rest) for job in (1, 2, 3) for rest in lines]
    assert [len(page) for page in whole][:3] == [3, 3, 3]
    assert max(len(page) for page in small) == 2
    assert [item for page in small for item in page] == [item for page in whole for item in page]
    assert [item["line"] for page in one for item in page] == ["bug!"]


async def test_no_page_reads_again_what_was_searched(
    http: AsyncClient, worker: LiveWorker, settings: Settings
) -> None:
    """Nor more than a bounded part of a long output; a line is found where two parts meet."""
    batch_id = await submit(http, {})
    (claimed,) = await worker.claim_and_start()
    line = b"a bug and some more\n"
    worker.write(claimed, *[(STDOUT, line * 5000) for _ in range(30)])
    await worker.end([claimed], output=(30 * 5000 * len(line), 0))
    path = f"/v1/batches/{batch_id}/logs"

    first = (await http.get(path, params={"find": "bug", "limit": 1000})).json()
    for file in settings.home.rglob("1.1"):
        file.write_bytes(file.read_bytes().replace(b"bug", b"cat", 1000))
    second = (
        await http.get(path, params={"find": "bug", "limit": 1000, "cursor": first["cursor"]})
    ).json()
    other = await pages(http, path, find="other", limit=1000)

    assert [one["number"] for one in first["items"]] == [*range(1, 1001)]
    assert [one["number"] for one in second["items"]] == [*range(1001, 2001)]
    assert len(other) >= 3
    assert not any(other)


async def test_wrong_searches_are_refused(http: AsyncClient) -> None:
    path = f"/v1/batches/{await submit(http)}/logs"
    wrong = [
        (await http.get(path, params=query)).status_code
        for query in ({}, {"find": ""}, {"find": "a\nb"}, {"find": "x", "cursor": "aw=="})
    ]

    assert wrong == [400, 400, 400, 400]


ENDED = AttemptLog(
    batch_id=1,
    job_id=1,
    attempt=1,
    ended=True,
    location=segment_location(0, 0),
    stdout_bytes=3,
    stderr_bytes=0,
    truncated=False,
    state="success",
)


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


VARYING = {"date", "traceparent", "x-trace-id"}


async def test_head_is_that_of_a_get(http: AsyncClient) -> None:
    cases = [
        ("/v1/batches", 200),
        ("/openapi.json", 200),
        ("/v1/batches?limit=0", 400),
        ("/v1/batches/9", 404),
        ("/v1/nothing", 404),
        ("/v1/batches/1/cancel", 405),
    ]
    for path, status in cases:
        heads = [await http.request(method, path) for method in ("GET", "HEAD", "GET")]
        shown = [{k: v for k, v in one.headers.items() if k not in VARYING} for one in heads]

        assert [one.status_code for one in heads] == [status] * 3
        assert shown[0] == shown[1]
        assert heads[1].content == b""


async def test_head_of_a_stream_ends_it(http: AsyncClient) -> None:
    async with asyncio.timeout(DEADLINE_S):
        answer = await http.head("/v1/events")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")


async def test_stranger_gets_the_head_of_a_refusal(http: AsyncClient) -> None:
    answer = await http.head("/v1/batches", headers={"authorization": "Bearer none"})

    assert (answer.status_code, answer.content) == (401, b"")
