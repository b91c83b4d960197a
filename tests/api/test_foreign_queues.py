"""Queues whose jobs programs run that are not weft's: which may be saved."""

from collections.abc import Mapping

import httpx
import pytest

BIG = {"name": "big", "priority": 20}


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"slots": 2}, "slots"),
        ({"queued_s": 2}, "queued_s"),
        ({"consumers": "foreign", "slots": 2}, "consumers"),
        ({"consumers": "foreign", "transport": "rabbit"}, "slots"),
    ],
)
async def test_only_queues_that_travel_have_foreign_consumers(
    http: httpx.AsyncClient, fields: Mapping[str, object], pointer: str
) -> None:
    answer = await http.put("/v1/queues", json={"queues": [{**BIG, **fields}]})

    assert answer.status_code == 400
    assert f"/queues/0/{pointer}" in {one["pointer"] for one in answer.json()["errors"]}
