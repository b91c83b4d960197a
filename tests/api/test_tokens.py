"""Tokens over HTTP: what they allow, and that a revoked one is refused at once."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from httpx import AsyncClient

from api.fakes import SilentNotices, client_of
from api.live import LiveApi, make_user
from api.test_web_tokens import EC, ISSUER, OTHER, USUAL, AdmittingStore, pem_of, token_of
from cases import cases
from weft.api.app import create_app
from weft.settings import Settings

FAR_S = 3600.0


pytestmark = pytest.mark.usefixtures("remember_long")


async def new_token(http: AsyncClient, **document: Any) -> tuple[int, dict[str, str]]:  # noqa: ANN401
    answer = await http.post("/v1/tokens", json={"name": "ci", **document})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert re.fullmatch(r"weft_[\w-]{43}", made["token"])
    return made["token_id"], {"authorization": f"Bearer {made['token']}"}


async def test_token_with_scopes_may_do_only_that(http: AsyncClient) -> None:
    token_id, header = await new_token(http, scopes=["read"], valid_s=3600)
    who = (await http.get("/v1/whoami", headers=header)).json()
    refused = await http.post("/v1/batches", json={"jobs": [{}]}, headers=header)

    assert who == {
        "user": who["user"],
        "tenant": "local",
        "role": "admin",
        "rights": ["read"],
        "token_id": token_id,
        "csrf_token": None,
    }
    assert (await http.get("/v1/batches", headers=header)).status_code == 200
    assert (refused.status_code, refused.json()["code"]) == (403, "API.RIGHT_MISSING")
    assert refused.json()["title"] == "this token may not submit or change jobs"
    assert "--scope write" in refused.json()["hint"]


async def test_token_cannot_make_one_that_may_do_more(http: AsyncClient) -> None:
    token_id, header = await new_token(http, scopes=["read"])
    more = await http.post("/v1/tokens", json={"name": "a", "scopes": ["write"]}, headers=header)
    same = await http.post("/v1/tokens", json={"name": "b"}, headers=header)
    made = same.json()
    other = await http.request("DELETE", f"/v1/tokens/{made['token_id']}", headers=header)
    still = await http.get("/v1/whoami", headers={"authorization": f"Bearer {made['token']}"})
    itself = await http.request("DELETE", f"/v1/tokens/{token_id}", headers=header)

    assert (more.status_code, more.json()["code"]) == (403, "API.RIGHT_MISSING")
    assert made["scopes"] == ["read"]
    assert (other.status_code, still.status_code, itself.status_code) == (403, 200, 200)


async def test_token_cannot_make_one_that_is_good_for_longer(http: AsyncClient) -> None:
    _, header = await new_token(http, valid_s=60)
    ends = [
        (await http.post("/v1/tokens", json={"name": "a", **more}, headers=header)).json()
        for more in ({}, {"valid_s": 3600}, {"valid_s": 1})
    ]
    (first,) = [
        one["expires_at"]
        for one in (await http.get("/v1/tokens")).json()["items"]
        if one["name"] == "ci"
    ]

    assert [one["expires_at"] for one in ends[:2]] == [first, first]
    assert ends[2]["expires_at"] < first


async def test_repeat_replaces_a_token_whose_text_was_lost(http: AsyncClient) -> None:
    key = {"Idempotency-Key": "once"}
    names = "ci", "ci", "deploy"  # the last is no repeat
    made = [(await http.post("/v1/tokens", json={"name": n}, headers=key)).json() for n in names]
    asked = [
        await http.get("/v1/whoami", headers={"authorization": f"Bearer {one['token']}"})
        for one in made
    ]

    assert [one.status_code for one in asked] == [401, 200, 200]


async def test_revoked_token_is_refused_by_every_api(http: AsyncClient, second: LiveApi) -> None:
    token_id, header = await new_token(http)
    async with second.client(**header) as elsewhere:
        assert (await elsewhere.get("/v1/whoami")).json()["token_id"] == token_id
        assert (await http.get("/v1/whoami", headers=header)).status_code == 200
        revoked = await http.request("DELETE", f"/v1/tokens/{token_id}")
        again = await http.request("DELETE", f"/v1/tokens/{token_id}")
        async with asyncio.timeout(60):  # the notice is on its way
            while (await elsewhere.get("/v1/whoami")).status_code == 200:
                await asyncio.sleep(0)
            while (await http.get("/v1/whoami", headers=header)).status_code == 200:
                await asyncio.sleep(0)

    assert revoked.json() == {"token_id": token_id}
    assert (again.status_code, again.json()["code"]) == (404, "API.TOKEN_NOT_FOUND")


async def test_a_user_has_so_many_tokens_and_no_more(
    http: AsyncClient, api: LiveApi, database: dict[str, str], tmp_path: Path
) -> None:
    await new_token(http)
    known = len((await http.get("/v1/tokens")).json()["items"])
    live = LiveApi(database["weft_api"], Settings(home=tmp_path, tokens_per_user_max=known))
    async with live, live.client() as limited:
        answer = await limited.post("/v1/tokens", json={"name": "one more"})

    assert api.port != live.port
    assert (answer.status_code, answer.json()["code"]) == (409, "API.TOO_MANY_TOKENS")
    assert "weft token revoke" in answer.json()["hint"]


async def test_tokens_are_listed_without_their_texts(http: AsyncClient) -> None:
    _, header = await new_token(http, name="dashboard", valid_s=60)
    text = (await http.get("/v1/tokens")).text
    (found,) = [
        one for one in (await http.get("/v1/tokens")).json()["items"] if one["name"] == "dashboard"
    ]

    assert header["authorization"].partition(" ")[2] not in text
    assert found["scopes"] is None
    assert found["expires_at"] > found["created_at"]
    assert found["last_used_at"] is None


async def test_wrong_documents_are_refused(client: AsyncClient) -> None:
    for body, pointer in [
        ("{}", "/name"),
        ('{"name": ""}', "/name"),
        ('{"name": "a\\u0000b"}', "/name"),
        ('{"name": "a", "scopes": []}', "/scopes"),
        ('{"name": "a", "scopes": ["root"]}', "/scopes"),
        ('{"name": "a", "valid_s": -1}', "/valid_s"),
        ('{"name": "a", "valid_s": 1e12}', "/valid_s"),
        ('{"name": "a", "valid_s": 1e400}', None),
        ('{"name": "a", "valid_s": NaN}', None),
    ]:
        answer = await client.post(
            "/v1/tokens", content=body, headers={"content-type": "application/json"}
        )

        assert answer.status_code == 400
        assert pointer is None or [one["pointer"] for one in answer.json()["errors"]] == [pointer]
    answer = await client.request("DELETE", "/v1/tokens/weft_secret")
    assert (answer.status_code, answer.json()["code"]) == (400, "API.INVALID_ID")


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
                [one],
                [one, other],
                [other, one],
                [one, one],
                [one, elsewhere],
                [elsewhere, one],
            )
        ]

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
