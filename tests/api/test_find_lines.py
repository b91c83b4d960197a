"""Lines of the output of many jobs that have a text."""

from pathlib import Path
from typing import Any

import pytest
from httpx import AsyncClient
from hypothesis import given
from hypothesis import strategies as st

from api.live import LiveWorker
from api.test_logs import submit
from weft.api.use_cases.find_lines import LINE_BYTES_MAX, LineSearch, Position
from weft.settings import Settings
from weft.wire.log_format import STDERR, STDOUT

FIRST = Position()
Told = tuple[int, bytes, Position]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, find_bytes_max=1)


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
