"""Lines of the output of many jobs that have a text."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from api.live import LiveApi, LiveWorker, make_user
from api.test_logs import submit
from weft.api.use_cases.find_lines import LineSearch
from weft.settings import Settings
from weft.wire.log_format import STDERR, STDOUT


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, find_bytes_max=1)


def found(*pieces: bytes, text: bytes = b"ab") -> list[tuple[int, bytes]]:
    search = LineSearch(text)
    return [*(one for piece in pieces for one in search.feed(piece)), *search.end()]


def test_lines_are_found_across_pieces() -> None:
    """Each once, with its number; also the last one, which has no line break."""
    assert found(b"xa", b"b\nno\nab ab\na\nb", b"") == [(1, b"xab"), (3, b"ab ab")]
    assert found(b"no\nz", b"a", b"b") == [(2, b"zab")]


def test_long_line_is_found_in_parts_and_told_once() -> None:
    long = b"x" * (1 << 20)
    told = found(long + b"a", b"b" + long, b"ab\n", b"ab\n")
    assert [number for number, _ in told] == [1, 2]
    assert all(b"ab" in line for _, line in told)


async def pages(http: httpx.AsyncClient, path: str, **query: Any) -> list[list[dict[str, Any]]]:  # noqa: ANN401 (a query)
    """Return the items of all pages."""
    result: list[list[dict[str, Any]]] = []
    cursor: str | None = None
    while cursor is not None or not result:
        answer = await http.get(path, params={**query, **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.text
        result.append(answer.json()["items"])
        cursor = answer.json()["cursor"]
    return result


async def test_search_goes_on_where_a_page_ended(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    """Also within the output of a job; jobs that never started have nothing."""
    batch_id = await submit(http, {}, {}, {"name": "n"}, {"parents": [1]})
    claimed = await worker.claim()
    await worker.start(claimed)
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


async def test_who_does_not_see_a_batch_finds_nothing(
    database: dict[str, str], http: httpx.AsyncClient, api: LiveApi
) -> None:
    batch_id = await submit(http)
    path = f"/v1/batches/{batch_id}/logs"
    await make_user(database["admin"], tenant="other", token="token-of-another")
    async with api.client(authorization="Bearer token-of-another") as stranger:
        hidden = await stranger.get(path, params={"find": "x"})
    wrong = [
        (await http.get(path, params=query)).status_code
        for query in ({}, {"find": ""}, {"find": "a\nb"}, {"find": "x", "cursor": "aw=="})
    ]

    assert (hidden.status_code, hidden.json()["code"]) == (404, "API.BATCH_NOT_FOUND")
    assert wrong == [400, 400, 400, 400]
