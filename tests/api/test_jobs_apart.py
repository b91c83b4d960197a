"""Whom one lets in while nothing keeps jobs of users apart: by all roles, on both routes."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from weft.core.access.rights import UserRole
from weft.settings import Settings

HARMLESS = {UserRole.VIEWER, UserRole.WORKER}
"""Nobody with these roles has jobs."""
APART: list[dict[str, Any]] = [
    {"trusted_users": True},
    {"sandbox": "bubblewrap"},
    {"run_as": "user"},
]


@pytest.fixture(params=[{}, *APART], ids=str)
def keeps(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Give settings of which all but the first keep jobs apart, or say that they need not be."""
    found: dict[str, Any] = request.param
    return found


@pytest.fixture
def settings(tmp_path: Path, keeps: dict[str, Any]) -> Settings:
    return Settings(home=tmp_path, **keeps)


async def test_nobody_gets_jobs_unknowingly(
    http: httpx.AsyncClient, keeps: dict[str, Any]
) -> None:
    def said(answer: httpx.Response) -> tuple[int, str]:
        return answer.status_code, answer.json().get("code", "")

    for role in UserRole:
        words = {"name": f"new {role}", "role": role}
        asked = said(await http.post("/v1/users", json={**words, "trusted": False}))
        refused = not keeps and role not in HARMLESS
        assert asked == ((409, "API.JOBS_NOT_APART") if refused else (201, "")), role
        if refused:
            assert said(await http.post("/v1/users", json=words)) == (201, "")
    tenant = {"name": "acme", "admin": "ann"}
    made = await http.post("/v1/tenants", json={**tenant, "trusted": False})
    assert said(made) == ((201, "") if keeps else (409, "API.JOBS_NOT_APART"))
    if not keeps:
        problem = made.json()
        assert "could read the tokens of all users" in problem["title"] + problem["detail"]
        for way_out in ('sandbox = "bubblewrap"', 'run_as = "user"', "--trusted"):
            assert way_out in problem["hint"]


async def test_a_site_says_whose_jobs_are_together(
    http: httpx.AsyncClient, keeps: dict[str, Any]
) -> None:
    async def found() -> dict[str, Any]:
        health = (await http.get("/v1/system")).json()["health"]
        (one,) = [one for one in health if one["check"] == "sandbox"]
        return dict(one)

    assert (await found())["verdict"] == "ok"
    await http.post("/v1/users", json={"name": "looks on", "role": "viewer"})
    assert (await found())["verdict"] == "ok"
    await http.post("/v1/users", json={"name": "bob"})
    after = await found()
    assert after["verdict"] == ("ok" if keeps else "warning")
    if not keeps:
        assert after["found"].startswith("jobs of 2 users run as ")
        assert "client.json" in after["found"]
        assert 'sandbox = "bubblewrap"' in after["advice"]
