"""What is said of a batch that runs on after one of its jobs has failed."""

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import httpx

from api.live import LiveWorker
from api.test_visits import QUERY, STREAMS
from weft.api.app import route_rights
from weft.wire.answers.batches import GroupStateWord

WORDS = [*get_args(GroupStateWord)]


def states_in(document: Any) -> Iterator[str]:  # noqa: ANN401 (any document)
    """Yield the states of batches and groups."""
    if isinstance(document, dict) and document.get("state") in WORDS:
        yield document["state"]
    if isinstance(document, dict | list):
        for part in document.values() if isinstance(document, dict) else document:
            yield from states_in(part)


async def test_no_document_and_no_page_says_failure_before_the_end(
    http: httpx.AsyncClient, browser: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch = {"jobs": [{"group": "/g", "count": 2}], "groups": [{"path": "/g"}]}
    b = (await http.post("/v1/batches", json=batch)).json()["id"]
    await worker.end(await worker.claim(1), exit_code=1)
    schemas = (await http.get("/openapi.json")).json()
    kinds = [
        f'schemas/{name}"'
        for name, kind in schemas["components"]["schemas"].items()
        if kind.get("properties", {}).get("state", {}).get("enum") == sorted(WORDS)
    ]
    reads = {
        route
        for route in route_rights()
        if route.startswith("GET ") and {*re.findall(r"{(\w+)}", route)} <= {"b", "g"}
    }
    seen = set()
    for route in reads - STREAMS:
        path = route.removeprefix("GET ").format(b=b, g=1)
        answer = await (browser if "/ui" in path else http).get(path + QUERY.get(route, ""))
        if "json" in answer.headers.get("content-type", ""):
            states = set(states_in(answer.json()))
            assert states <= {"running"}, route
            seen |= {route} if states else set()
        else:
            assert not re.search(r"\bs-failure\b", answer.text), route
            seen |= {route} if "running, 1 failed" in answer.text else set()
    described = {
        f"GET {path}"
        for path, asked in schemas["paths"].items()
        if any(kind in json.dumps(asked.get("get")) for kind in kinds)
    }
    assert described & reads == {route for route in seen if "/v1" in route}
    assert len(seen) > len(described)
