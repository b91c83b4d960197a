"""Tokens of others: dates far away, and headers of gateways."""

from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from api.fakes import SilentNotices, client_of
from api.live import LiveApi, make_user
from api.test_web_tokens import EC, ISSUER, OTHER, USUAL, AdmittingStore, pem_of, token_of
from cases import cases
from weft.api.app import create_app
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


def server_of(home: Path, issuers: str) -> httpx.AsyncClient:
    """Return a client of an api with these issuers."""
    (path := home / "issuers.toml").write_text(issuers)
    settings = Settings(home=home, issuers_file=path)
    app = create_app(cast("Any", AdmittingStore()), SilentNotices(), cast("Any", None), settings)
    return client_of(app)


async def test_two_tokens_from_gateways_are_none(tmp_path: Path) -> None:
    """In one header or in those of two gateways, whichever comes first."""
    texts = [
        f'{usual}\nheader = "X-JWT-Assertion-{name}"\npem = """{pem_of(EC)}"""'
        for name, usual in (("a", USUAL), ("b", USUAL.replace('"weft"', '"another"')))
    ]
    one, other = (("x-jwt-assertion-a", token_of(sub=user)) for user in ("ada", "eve"))
    elsewhere = ("x-jwt-assertion-b", other[1])
    async with server_of(tmp_path, "\n".join(texts)) as client:
        answers = [
            await client.get("/v1/whoami", headers=headers)
            for headers in (
                [one], [one, other], [other, one], [one, one], [one, elsewhere], [elsewhere, one],
            )
        ]  # fmt: skip

    assert [answer.status_code for answer in answers] == [200, *[401] * 5]
    assert {answer.json()["detail"].partition(",")[0] for answer in answers[1:]} == {
        "It has several tokens"
    }


async def test_token_in_the_header_of_a_gateway(tmp_path: Path) -> None:
    text = f'{USUAL}\nheader = "X-JWT-Assertion-default"'
    other = USUAL.replace("issuer.ex", "other.ex") + f'\npem = """{pem_of(OTHER)}"""'
    theirs = token_of(OTHER, iss=ISSUER.replace("issuer.ex", "other.ex"))
    async with server_of(tmp_path, f'{text}\npem = """{pem_of(EC)}"""\n{other}') as client:
        name = "X-JWT-Assertion-default"
        good = await client.get("/v1/whoami", headers={name: token_of()})
        of_another = await client.get("/v1/whoami", headers={name: theirs})
        plain = await client.get("/v1/whoami", headers={"authorization": f"Bearer {theirs}"})
        both = await client.get(
            "/v1/whoami", headers={name: token_of(), "authorization": "Bearer nonsense"}
        )
        foreign = await client.delete("/x", headers={name: token_of(), "origin": "http://evil"})

    assert foreign.json()["code"] == "API.FOREIGN_REQUEST"
    assert [one.status_code for one in (good, of_another, plain, both)] == [200, 401, 200, 401]
    assert (good.json()["user"], good.json()["token_id"]) == ("ada", None)
    assert "issuer and audience" in of_another.json()["detail"]
