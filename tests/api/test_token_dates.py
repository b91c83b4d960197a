"""Dates of JSON web tokens that lie further away than a calendar of programs goes."""

from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import httpx
import pytest

from api.live import LiveApi, make_user
from api.test_web_tokens import EC, USUAL, pem_of, token_of
from cases import cases
from weft.settings import Settings


@pytest.fixture
async def believing(database: dict[str, str], tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of an api that believes an issuer."""
    await make_user(database["admin"], tenant="default")
    path = tmp_path / "issuers.toml"
    path.write_text(f'{USUAL}create_users = true\npem = """{pem_of(EC)}"""')
    live = LiveApi(database["weft_api"], Settings(home=tmp_path, issuers_file=path))
    async with live, live.client() as client:
        yield client


@cases("exp", [1 << 52, 253_402_300_799])
async def test_what_a_bearer_makes_ends_in_a_year_that_programs_know(
    believing: httpx.AsyncClient, exp: int
) -> None:
    """Whose issuer says "for ever" in this way: neither does the database refuse the date, nor
    does a client stumble over the year 10000.
    """
    headers = {"authorization": f"Bearer {token_of(exp=exp)}"}
    made = await believing.post("/v1/tokens", json={"name": "ci"}, headers=headers)
    link = await believing.post("/v1/login-links", json={}, headers=headers)
    listed = (await believing.get("/v1/tokens", headers=headers)).json()["items"]

    assert (made.status_code, link.status_code) == (201, 200), made.text + link.text
    assert {datetime.fromisoformat(one["expires_at"]).year for one in listed} == {9999}
