"""Whatever number any field of any request holds, the answer is no mistake of the server's."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Final

import httpx
import pytest

from api.field_walk import Try, fields_of, parameters_of
from api.live import LiveApi

HOLE: Final = "@hole@"
NUMBERS: Final = (
    "2147483648", "9223372036854775808", "-1", "18446744073709551616", "1e400", "NaN",
)  # fmt: skip
MISTAKE: Final = 500


async def mistakes(http: httpx.AsyncClient, asked: Iterable[tuple[Try, str]]) -> Sequence[str]:
    """Ask each once; return the answers that are mistakes of the server's."""
    wrong, room = list[str](), asyncio.Semaphore(8)

    async def ask(key: tuple[str, str, str], where: str) -> None:
        method, path, body = key
        async with room:
            answer = await http.request(
                method, path, content=body, headers={"content-type": "application/json"}
            )
        if answer.status_code == MISTAKE:
            wrong.append(f"{method} {path[:99]} {where}: {body[:99]}: {answer.text}")

    each = {
        (one.method, one.path, json.dumps(one.document).replace(f'"{HOLE}"', value)): one.where
        for one, value in asked
    }
    assert len(each) > 300
    await asyncio.gather(*(ask(key, where) for key, where in each.items()))
    return wrong


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_numbers_beyond_any_column(api: LiveApi, http: httpx.AsyncClient) -> None:
    await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
    asked = [(one, value) for one in fields_of(api.app, (int,), HOLE) for value in NUMBERS]
    asked += [(one, "") for value in NUMBERS[:3] for one in parameters_of(api.app, value)]

    assert await mistakes(http, asked) == []
