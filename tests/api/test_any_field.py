"""Whatever any field of any request holds, the answer is no mistake of the server's, and others
are served meanwhile.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import pytest
from httpx import AsyncClient

from api.field_walk import Evaluated, parameters_of
from api.live import LiveApi
from benches.hostile import HOSTILE, SCHEMAS, Request, fields_of_documents, fields_of_lines

HELD: Final = "@held@"
NUMBERS: Final = (
    "2147483648", "9223372036854775808", "-1", "18446744073709551616", "1e400", "NaN",
)  # fmt: skip
DATA: Final = ("deep", "bare pattern", "template")
"""What is tried where nothing is evaluated."""
LATE_S: Final = 1.0
"""Any other answer takes this long at most; what is hostile takes many seconds where it runs."""
MISTAKE: Final = 500


SETTINGS = {"source_paths": "/", "evaluation_all_s": 1.0}


async def send(http: AsyncClient, one: Request) -> httpx.Response:
    headers = {"content-type": "application/json"}
    return await http.request(one.method, one.path, content=one.body, headers=headers)


async def mistakes(http: AsyncClient, asked: Mapping[str, Request]) -> Sequence[str]:
    """Ask each once; return the answers that are mistakes of the server's."""
    wrong, room = list[str](), asyncio.Semaphore(8)

    async def ask(name: str, one: Request) -> None:
        async with room:
            answer = await send(http, one)
        if answer.status_code == MISTAKE:
            wrong.append(f"{name}: {one.path[:99]} {one.body[:99]!r}: {answer.text}")

    assert len(asked) > 300
    await asyncio.gather(*(ask(name, one) for name, one in asked.items()))
    return wrong


@asynccontextmanager
async def others_are_served(http: AsyncClient) -> AsyncIterator[None]:
    """Prove that each other request is answered soon meanwhile."""
    took = list[float]()

    async def read() -> None:
        while True:
            before = time.monotonic()
            assert (await http.get("/v1/whoami")).status_code == 200
            took.append(time.monotonic() - before)

    task = asyncio.create_task(read())
    yield
    assert not task.done()
    task.cancel()
    assert max(took) < LATE_S


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_numbers_beyond_any_column(api: LiveApi, http: AsyncClient) -> None:
    await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
    fields = fields_of_documents(api.app, int)
    asked = {f"{o.name}: {n}": o.with_json(n) for o in fields for n in NUMBERS}
    for value in NUMBERS[:3]:
        for one in parameters_of(api.app, value):
            request = Request.of(one.method, one.path, one.document)
            asked[f"{one.path} {one.where}: {value}"] = request

    assert await mistakes(http, asked) == []


async def test_what_is_marked_and_nothing_else_is_evaluated(
    api: LiveApi, http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A field whose text reaches the processes for evaluation is marked in its type, and each that
    is marked gets there. Where that is a schema, the mark is one of the whole field.
    """
    seen, found, each = list[str](), set[str](), api.evaluation.each

    async def noted(tenant_id: int, function: Callable[..., Any], common: Any, items: Any) -> Any:  # noqa: ANN401
        seen.append(repr((common, items)))
        return await each(tenant_id, function, common, items)

    monkeypatch.setattr(api.evaluation, "each", noted)
    for one in fields_of_documents(api.app):
        seen.clear()
        await send(http, one.holding(HELD))
        if HELD in str(seen):
            found.add(re.sub("/form/.*", "/form", one.name))

    assert found == {one.name for one in fields_of_documents(api.app, Evaluated)}
    assert len(found) >= 3


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_nothing_that_is_costly_holds_up_others(api: LiveApi, http: AsyncClient) -> None:
    """What is evaluated ends within its budget, and the rest is data: each is answered in time."""
    marked, any_ = [*fields_of_documents(api.app, Evaluated)], fields_of_documents(api.app)
    asked = {f"{one.name}: {name}": one.holding(HOSTILE[name]) for one in any_ for name in DATA}
    for one in [*marked, *fields_of_lines()]:
        asked |= {f"{one.name}: {name}": one.holding(text) for name, text in HOSTILE.items()}
    for one in marked:
        asked |= {f"{one.name}: {n}": one.with_json(json.dumps(s)) for n, s in SCHEMAS.items()}

    async with others_are_served(http):
        assert await mistakes(http, asked) == []
