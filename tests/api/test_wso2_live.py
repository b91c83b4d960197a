"""Assertions of a WSO2 gateway at a started api with its database: who is let in, as whom."""

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc import jwk

from api.live import NO_TLS, TOKEN, LiveApi
from api.test_web_tokens import RSA, pem_of, token_of
from api.test_wso2 import ENTRY, HEADER, claims
from weft.client.aio import Client
from weft.run.doors import api_doors
from weft.settings import Settings

LIVE_DOORS = api_doors()
ANOTHER = jwk.RSAKey.generate_key(2048)
USER = "PRIMARY/tester@acme.prod"
JOB = {"name": "of the gateway", "appId": "sayer-1.0", "archive": False}


def good(user: str = USER, **more: Any) -> str:  # noqa: ANN401 (claims)
    return token_of(RSA, "RS256", **claims(user), **more)


def _altered() -> str:
    head, _, signature = good().split(".")
    said = {**claims("root"), "exp": int(time.time()) + 600}
    body = base64.urlsafe_b64encode(json.dumps(said).encode()).rstrip(b"=").decode()
    return f"{head}.{body}.{signature}"


WRONG: dict[str, tuple[Callable[[], str], int]] = {
    "expired": (lambda: good(exp=int(time.time()) - 120), 900903),
    "signed by another key": (lambda: token_of(ANOTHER, "RS256", **claims(USER)), 900901),
    "altered": (_altered, 900901),
    "no token": (lambda: "x", 900901),
}
"""Of each kind one: `test_wso2.py` has the others."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    path = tmp_path / "issuers.toml"
    entry = ENTRY.replace('"science"', '"local"')
    path.write_text(f'{entry}\npem = """{pem_of(RSA)}"""')
    return Settings(home=tmp_path, issuers_file=path)


async def test_assertion_of_a_gateway_counts_alone_and_before_a_bearer(
    api: LiveApi, tmp_path: Path
) -> None:
    """Its user owns the job. A wrong one is a 401 beside a good bearer token, on these paths."""
    folder = tmp_path / "sayer"
    folder.mkdir()
    (folder / "app.json").write_text(
        json.dumps({"name": "sayer", "version": "1.0", "templatePath": "wrapper.sh"})
    )
    (folder / "wrapper.sh").write_text("exit 0\n")
    async with Client(api.url, TOKEN) as own:
        await own.add_app(folder)
    bearer = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=api.url, timeout=60, verify=NO_TLS) as client:
        made = await client.post("/jobs/v2", json=JOB, headers={HEADER: good()})
        assert made.status_code == 201, made.text
        assert made.json()["result"]["owner"] == "tester"
        for headers in ({HEADER: good()}, {HEADER: good(), **bearer}, bearer):
            (listed,) = (await client.get("/jobs/v2", headers=headers)).json()["result"]
            assert listed["id"] == made.json()["result"]["id"]
        for headers in ({"x-jwt-assertion": good()}, {"x-jwt-assertion-else": good()}, {}):
            assert (await client.get("/jobs/v2", headers=headers)).status_code == 401
        for name, (make, code) in WRONG.items():
            for more in ({}, bearer):
                refused = await client.get("/jobs/v2", headers={HEADER: make(), **more})
                fault = refused.json()["fault"]
                assert (refused.status_code, fault["code"]) == (401, code), name
                assert "Invalid Credentials" in fault["message"]
        unknown = await client.get("/jobs/v2", headers={HEADER: good("eve"), **bearer})
        assert unknown.status_code == 401
        assert (await client.get("/v1/batches", headers=bearer)).status_code == 200
