"""Logins that are written into addresses of a setup: sealed, shown by no route, and used."""

import base64
from pathlib import Path

import asyncpg
import httpx
import pytest

from api.one_answer import one_answer
from api.test_sources import TOML, apply
from weft.settings import Settings

LOGIN = "ann:canary-6f1d"
LINE = """
# Products go to where operators of the line read them.
[source.scenes]
kind = "http"
url = "http://ann:canary-6f1d@127.0.0.1:PORT/items"
job = "snow"
sink = "portal"

[sink.portal]
kind = "http"
url = "https://ann:canary-6f1d@portal.example/products"
message = "1"

[job.snow]
command = ["snow"]
"""
EVERYTHING = """
    SELECT s::text FROM weft.setup s UNION ALL SELECT s::text FROM weft.source s
    UNION ALL SELECT s::text FROM weft.sink s UNION ALL SELECT e::text FROM weft.trail_entry e
"""
OWNERS = """
    SELECT s.name, u.name FROM weft.sink s JOIN weft.tenant_user u USING (user_id)
    UNION ALL SELECT s.name, u.name FROM weft.source s JOIN weft.tenant_user u USING (user_id)
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Let sources read a server of the test."""
    return Settings(home=tmp_path, port=0, source_private_hosts="127.0.0.1")


async def rows(database: dict[str, str], text: str) -> list[asyncpg.Record]:
    admin = await asyncpg.connect(database["admin"])
    found = await admin.fetch(text)
    await admin.close()
    return [*found]


async def test_login_in_an_address_is_sealed_and_used(
    http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    """What the server repeats of it is told by its name."""
    async with one_answer(b'{"items": [{"key": "by ann:canary-6f1d"}]}') as server:
        line = LINE.replace("PORT", str(server.port))
        await apply(http, line)
        shown = (await http.get("/v1/setups/snow")).json()["document"]
        tried = await http.post("/v1/sources/scenes/trial", json={})
    told = [await http.get(path) for path in ("/v1/sources/scenes", "/v1/secrets", "/ui")]
    stored = await rows(database, EVERYTHING)

    assert tried.json()["error"] is None, tried.text
    (asked,) = server.heads
    assert f"Authorization: Basic {base64.b64encode(LOGIN.encode()).decode()}\r\n" in asked
    (item,) = tried.json()["items"]
    assert item["key"] == "by ${secret.snow.source.scenes}"
    # Both have the same login, so both name the secret that it became first.
    assert shown == line.replace(LOGIN, "${secret.snow.source.scenes}")
    assert "canary" not in "".join([tried.text, *(one.text for one in told)])
    assert len(stored) >= 3
    assert not any("canary" in row[0] for row in stored)
    await apply(http, shown)


async def test_who_writes_a_login_owns_what_has_it(
    http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    """Another operator's login is used, and not the first one's, though the parts are the same."""
    line = LINE.replace("PORT", "9")
    await apply(http, line)
    made = await http.post("/v1/users", json={"name": "bob", "role": "operator"})
    bob = {"authorization": f"Bearer {made.json()['token']}"}
    answer = await http.put("/v1/setups/snow", content=line, headers={**TOML, **bob})
    assert answer.status_code == 200, answer.text
    assert {row[1] for row in await rows(database, OWNERS)} == {"bob"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("# Products", "# canary-6f1d", "line 5: its login stands elsewhere"),
        (
            '"http://ann:canary',
            '"http://ann:c\\u0061nary',
            "line 5: its login stands elsewhere, or in another form",
        ),
        ('job = "snow"', 'job = "snow"\nowner = "carol"', "line 5: only carol can keep its login"),
    ],
)
async def test_logins_that_cannot_be_kept_are_refused(
    http: httpx.AsyncClient, database: dict[str, str], old: str, new: str, said: str
) -> None:
    await http.post("/v1/users", json={"name": "carol"})
    text = LINE.replace("PORT", "9").replace(old, new)
    answer = await http.put("/v1/setups/snow", content=text, headers=TOML)
    assert answer.status_code == 400, answer.text
    assert said in answer.text
    assert "canary" not in answer.text
    assert not [one for one in await rows(database, EVERYTHING) if "canary" in one[0]]
    assert (await http.get("/v1/setups/snow")).status_code == 404
    assert (await http.get("/v1/secrets")).json()["items"] == []
