"""What a tenant is answered about another one: nothing. All routes of the api that only read are
asked, as it describes them itself; streams of events are read during the siege.
"""

import asyncio
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

from weft_siege.load import Batch
from weft_siege.tenants import Tenant

BATCHES_ASKED = 15
ANSWER_S = 30.0
PLACE = {"j": "1", "g": "0", "a": "1", "u": "1"}
"""Of things within a batch; what else a path may name has no mark."""
QUERY = {
    "first": "1",
    "last": "9",
    "jobs": "1",
    "find": "out",
    "path": "x",
    "title": "x",
    "limit": "100",
}
STREAMS = ("/v1/events", "/docs", "/login", "/openapi.json")


async def seen_by_others(tenants: Sequence[Tenant]) -> list[str]:
    """Return in words what each tenant sees of the others, and who does not see their own."""
    words = []
    for one in tenants:
        listed = {batch["id"] async for batch in one.clients[0].list_batches()}
        told = {event["batch_id"] for event in one.events}
        for other in tenants:
            found = await asyncio.to_thread(lambda a, b: [*_found(a, b)], one, other)
            if one is not other:
                known = (listed | told) & {batch.batch_id for batch in other.load.batches}
                found += [f"b{number}" for number in sorted(known)]
                words += [f"{one.mark} sees {place} of {other.mark}" for place in found]
            elif not found:
                words.append(f"{one.mark} sees nothing of its own")
    return words


def _found(one: Tenant, other: Tenant) -> Iterator[str]:
    """Yield the paths whose answer has the mark of another tenant, or is of a batch of it."""
    described = json.loads(_answer(one, "/openapi.json")[1])["paths"]
    for path in _paths(described, other.load.batches):
        status, text = _answer(one, path)
        if other.mark in text or ("/batches/" in path and status < HTTPStatus.BAD_REQUEST):
            yield path


def _paths(described: Mapping[str, Any], batches: Sequence[Batch]) -> Iterator[str]:
    """Yield the path of each list, and of what lies below some batches."""
    some = random.Random(0).sample(batches, min(BATCHES_ASKED, len(batches)))  # noqa: S311
    for route, ways in described.items():
        names = set(re.findall(r"{(\w+)}", route))
        if "get" not in ways or route.startswith(STREAMS) or not names <= {"b", *PLACE}:
            continue
        takes = {one["name"] for one in ways["get"].get("parameters", ()) if one["in"] == "query"}
        query = urlencode({name: value for name, value in QUERY.items() if name in takes})
        for batch in some if names else some[:1]:
            yield f"{route.format(b=batch.batch_id, **PLACE)}?{query}"


def _answer(tenant: Tenant, path: str) -> tuple[int, str]:
    with closing(HTTPConnection("127.0.0.1", tenant.port, timeout=ANSWER_S)) as connection:
        connection.request("GET", path, headers={"Authorization": f"Bearer {tenant.token}"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
