"""Logins that are written into addresses of a setup: sealed, shown by no route, and used."""

import base64

import pytest
from httpx import AsyncClient

from api.live import Dsns, add, as_admin
from api.test_sources import TOML, apply
from web_server import Answer, Question, web_server

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
JOB = """
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


SETTINGS = {"port": 0, "source_private_hosts": "127.0.0.1"}
"""Sources may read a server of the test."""


async def test_login_in_an_address_is_sealed_and_used(http: AsyncClient, database: Dsns) -> None:
    """What the server repeats of it is told by its name."""
    asked: list[Question] = []

    def answer(one: Question) -> Answer:
        asked.append(one)
        return Answer(b'{"items": [{"key": "by ann:canary-6f1d"}]}')

    with web_server(answer) as url:
        line = LINE.replace("PORT", url.rpartition(":")[2])
        await apply(http, line)
        shown = (await http.get("/v1/setups/snow")).json()["document"]
        tried = await http.post("/v1/sources/scenes/trial", json={})
    told = [await http.get(path) for path in ("/v1/sources/scenes", "/v1/secrets", "/ui")]
    stored = await as_admin(database, EVERYTHING)

    assert tried.json()["error"] is None, tried.text
    basic = f"Basic {base64.b64encode(LOGIN.encode()).decode()}"
    assert [one.headers["Authorization"] for one in asked] == [basic]
    (item,) = tried.json()["items"]
    assert item["key"] == "by ${secret.snow.source.scenes}"
    # Both have the same login, so both name the secret that it became first.
    assert shown == line.replace(LOGIN, "${secret.snow.source.scenes}")
    assert "canary" not in "".join([tried.text, *(one.text for one in told)])
    assert len(stored) >= 3
    assert not any("canary" in row[0] for row in stored)
    await apply(http, shown)


async def test_who_writes_a_login_owns_what_has_it(http: AsyncClient, database: Dsns) -> None:
    """Another operator's login is used, and not the first one's, though the parts are the same."""
    line = LINE.replace("PORT", "9")
    await apply(http, line)
    bob = await add(http, "bob", role="operator")
    answer = await http.put("/v1/setups/snow", content=line, headers={**TOML, **bob})
    assert answer.status_code == 200, answer.text
    assert {row[1] for row in await as_admin(database, OWNERS)} == {"bob"}


async def names_of(http: AsyncClient) -> list[str]:
    return [one["name"] for one in (await http.get("/v1/secrets")).json()["items"]]


async def test_secrets_of_logins_go_with_their_setup(http: AsyncClient) -> None:
    """Not what the user has set, and what another setup names stays as long as that is there."""
    for name in ("snow.source.mine", f"source-{'0' * 40}"):
        await http.put(f"/v1/secrets/{name}", json={"value": "x"})
    line = LINE.replace("PORT", "9").replace("ann:canary-6f1d@portal", "bob:canary-7a@portal")
    await apply(http, line)
    copied = (await http.get("/v1/setups/snow")).json()["document"]
    copied = copied.replace("source.scenes", "source.other").replace(
        "secret.snow.source.other", "secret.snow.source.scenes"
    )
    copied = copied.split("[sink.portal]")[0].replace('sink = "portal"\n', "") + JOB
    assert (await http.put("/v1/setups/ice", content=copied, headers=TOML)).status_code == 200
    before = await names_of(http)
    assert (await http.delete("/v1/setups/snow")).status_code == 200
    between = await names_of(http)
    assert (await http.delete("/v1/setups/ice")).status_code == 200

    mine = ["snow.source.mine", f"source-{'0' * 40}"]
    assert before == sorted([*mine, "snow.sink.portal", "snow.source.scenes"])
    assert between == sorted([*mine, "snow.source.scenes"])
    assert await names_of(http) == sorted(mine)


async def test_a_file_that_is_refused_leaves_secrets_as_they_were(
    http: AsyncClient, database: Dsns
) -> None:
    other = "[sink.portal]\nkind = 'http'\nurl = 'https://a.example/'\nmessage = '1'\n"
    assert (await http.put("/v1/setups/ice", content=other, headers=TOML)).is_success
    await http.put("/v1/secrets/snow.source.scenes", json={"value": "old"})
    before = await as_admin(database, "SELECT name, body FROM weft.secret")
    answer = await http.put("/v1/setups/snow", content=LINE.replace("PORT", "9"), headers=TOML)

    assert answer.status_code == 409, answer.text
    assert await as_admin(database, "SELECT name, body FROM weft.secret") == before


@pytest.mark.parametrize("sinks", ["portal", ["first", "portal"]])
async def test_secret_of_a_sink_stays_while_it_may_send(
    http: AsyncClient, sinks: str | list[str]
) -> None:
    """A job of the line is still to be told of, until its batch is deleted."""
    other = '[sink.first]\nkind = "http"\nurl = "https://a.example/"\nmessage = "1"\n'
    assert (await http.put("/v1/setups/ice", content=other, headers=TOML)).status_code == 200
    await apply(http, LINE.replace("PORT", "9"))
    jobs = {"jobs": [{"command": ["snow"]}], "sink": sinks}
    batch = (await http.post("/v1/batches", json=jobs)).json()["batch_id"]
    await http.delete("/v1/setups/snow")
    while_it_runs = await names_of(http)
    await apply(http, LINE.replace("PORT", "9"))
    deleted = await http.delete(f"/v1/batches/b{batch}")
    await http.delete("/v1/setups/snow")

    assert deleted.is_success, deleted.text
    assert while_it_runs == ["snow.source.scenes"]
    assert await names_of(http) == []


async def test_logins_that_cannot_be_kept_are_refused(http: AsyncClient, database: Dsns) -> None:
    await http.post("/v1/users", json={"name": "carol"})
    for old, new, said in [
        ("# Products", "# canary-6f1d", "line 5: its login stands elsewhere"),
        (
            '"http://ann:canary',
            '"http://ann:c\\u0061nary',
            "line 5: its login stands elsewhere, or in another form",
        ),
        ('job = "snow"', 'job = "snow"\nowner = "carol"', "line 5: only carol can keep its login"),
    ]:
        text = LINE.replace("PORT", "9").replace(old, new)
        answer = await http.put("/v1/setups/snow", content=text, headers=TOML)
        assert answer.status_code == 400, answer.text
        assert said in answer.text
        assert "canary" not in answer.text
        assert not [one for one in await as_admin(database, EVERYTHING) if "canary" in one[0]]
        assert (await http.get("/v1/setups/snow")).status_code == 404
        assert (await http.get("/v1/secrets")).json()["items"] == []
