"""Rates over the API: what a document says, and what is refused."""

from typing import Any

import httpx
import pytest

RATE = {"key": "api", "n": 10, "per_s": 2.0}


async def test_rate_is_shown_as_it_was_sent(http: httpx.AsyncClient) -> None:
    sent = {"jobs": [{"command": ["true"], "rate": RATE}]}
    batch = (await http.post("/v1/batches", json=sent)).json()

    job = (await http.get(f"/v1/batches/{batch['id']}/jobs/1")).json()
    assert job["rate"] == RATE


@pytest.mark.parametrize(
    "wrong", [{"key": "api", "per_s": 0}, {"key": "api", "per_s": 100_000}, {"key": "api", "n": 0}]
)
async def test_rate_out_of_bounds_is_refused(
    http: httpx.AsyncClient, wrong: dict[str, Any]
) -> None:
    answer = await http.post("/v1/batches", json={"jobs": [{"command": ["true"], "rate": wrong}]})

    assert answer.status_code == 400
    assert "/jobs/0/rate" in answer.text
