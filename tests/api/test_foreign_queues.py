"""Queues whose jobs programs run that are not weft's: which may be saved."""

from typing import Any

import httpx

BIG = {"name": "big", "priority": 20}


async def test_only_queues_that_travel_have_foreign_consumers(http: httpx.AsyncClient) -> None:
    cases: list[tuple[Any, ...]] = [
        ({"slots": 2}, "slots"),
        ({"queued_s": 2}, "queued_s"),
        ({"consumers": "foreign", "slots": 2}, "consumers"),
        ({"consumers": "foreign", "transport": "rabbit"}, "slots"),
    ]
    for fields, pointer in cases:
        answer = await http.put("/v1/queues", json={"queues": [{**BIG, **fields}]})

        assert answer.status_code == 400
        assert f"/queues/0/{pointer}" in {one["pointer"] for one in answer.json()["errors"]}
