"""Look-ups of configurations: items wait for answers that decide about their jobs."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest

from api.live import LiveApi, as_admin
from api.test_sources import TOML, audit, find
from web_server import Answer, Question, web_server
from weft.run.isolated.asking.lookups import LookUps
from weft.settings import Settings
from weft.wire.sealed import SecretKeys

SETUP = """
[lifecycle.short]
statuses = ["ready", "started", "done", "external_error", "cancelled"]
first = ["ready"]
[lifecycle.short.next]
ready = ["started", "cancelled"]
started = ["done", "external_error"]
external_error = ["cancelled"]
[lifecycle.short.core]
ready = "ready"
started = "running"
done = "success"
external_error = ["blocked", "failed", "error"]
cancelled = "cancelled"

[source.scenes]
kind = "directory"
path = "/data/in"
job = "snow"

[configure.snow]
let.esa = {{ plugin = "http", url = "{url}/of/${{item.tile}}", value = "answer.published"{more} }}
cancel_if = "item.cloud > 90"
env = {{ LATE = "esa - item.measured > duration('3h') ? 'yes' : 'no'" }}

[job.snow]
command = ["true"]
"""
MEASURED = "2027-04-13T10:13:47Z"


class Hub:
    """A server that knows when scenes were published."""

    def __init__(self) -> None:
        self.url = ""
        self.known: dict[str, Any] = {}
        self.status = 200
        self.asked: list[str] = []
        self.logins: list[str | None] = []

    def answer(self, asked: Question) -> Answer:
        self.logins.append(asked.headers["Authorization"])
        self.asked.append(asked.path)
        found = self.known.get(asked.path.removeprefix("/of/"))
        status = 404 if self.status == 200 and found is None else self.status
        return Answer(json.dumps(found).encode(), status)


@pytest.fixture
def hub() -> Iterator[Hub]:
    found = Hub()
    with web_server(found.answer) as found.url:
        yield found


Serve = Callable[[], Any]


@pytest.fixture
async def asking(api: LiveApi) -> AsyncIterator[LiveApi]:
    """Give an api that may ask servers of this host."""
    look_ups = LookUps(
        Settings(source_private_hosts="127.0.0.1"), lambda: SecretKeys(api.secret_keys)
    )
    api.app.services.look_ups = look_ups
    yield api
    await look_ups.close()


async def apply(http: httpx.AsyncClient, url: str, more: str = "") -> httpx.Response:
    text = SETUP.format(url=url, more=more)
    return await http.put("/v1/setups/snow", content=text, headers=TOML)


async def go_on(api: LiveApi, database: dict[str, str]) -> None:
    await as_admin(database, "UPDATE weft.source_item SET due_at = now() WHERE state = 'waiting'")
    await as_admin(database, "UPDATE weft.source SET work_at = now() WHERE work_at IS NOT NULL")
    await api.app.beside[0].submit_due()
    await api.app.beside[0].settled()


async def shown(http: httpx.AsyncClient) -> dict[str, tuple[str, str]]:
    answer = (await http.get("/v1/sources/scenes/items")).json()["items"]
    return {one["key"]: (one["job"] or one["state"], one["reason"] or "") for one in answer}


async def test_item_waits_while_a_look_up_is_away_and_then_has_its_value(
    asking: LiveApi, http: httpx.AsyncClient, database: dict[str, str], hub: Hub
) -> None:
    assert (await apply(http, hub.url)).status_code == 200
    hub.status = 503
    await find(database, "a", "b c&d/e", measured=MEASURED, cloud=3)
    await go_on(asking, database)
    why = f"let.esa has no answer: {hub.url.removeprefix('http://')} answers with 503"
    assert await shown(http) == {"a": ("waiting", why), "b c&d/e": ("waiting", why)}
    (one,) = (await http.get("/v1/sources/scenes/items", params={"key": "a"})).json()["items"]
    assert (one["key"], one["reason"]) == ("a", why)

    hub.status = 200
    hub.known = {
        "a": {"published": "2027-04-13T13:20:00Z"},
        "b%20c%26d/e": {"published": MEASURED},
    }
    await go_on(asking, database)
    assert {key: job for key, (job, _) in (await shown(http)).items()} == {
        "a": "b1.j1",
        "b c&d/e": "b1.j2",
    }
    envs = [(await http.get(f"/v1/batches/1/jobs/{n}")).json()["spec"]["env"] for n in (1, 2)]
    assert [one["LATE"] for one in envs] == ["yes", "no"]
    await audit(database)


async def test_cancelled_items_ask_nothing(
    asking: LiveApi, http: httpx.AsyncClient, database: dict[str, str], hub: Hub
) -> None:
    await apply(http, hub.url)
    await find(database, "a", measured=MEASURED, cloud=95)
    await go_on(asking, database)
    assert (await shown(http))["a"] == ("cancelled", "cancel_if is true")
    assert hub.asked == []


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ("", "waiting"),
        (', on_missing = "external_error"', "waiting"),
        (', on_missing = "refused"', "refused"),
        (', on_missing = "cancelled"', "cancelled"),
    ],
)
async def test_what_is_missing_decides_as_the_setup_says(
    asking: LiveApi,
    http: httpx.AsyncClient,
    database: dict[str, str],
    hub: Hub,
    more: str,
    state: str,
) -> None:
    assert (await apply(http, hub.url, more)).status_code == 200
    hub.known = {"b": {"measured": 1}}
    await find(database, "a", "b", measured=MEASURED, cloud=3)
    await go_on(asking, database)
    found = await shown(http)
    assert found["a"] == (state, "let.esa: nothing is known there of the item")
    assert found["b"][0] == state
    assert "the answer has no value" in found["b"][1]


async def test_forbidden_hosts_are_not_asked(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str], hub: Hub
) -> None:
    await apply(http, hub.url)
    await find(database, "a", measured=MEASURED, cloud=3)
    await go_on(api, database)
    state, why = (await shown(http))["a"]
    assert state == "waiting"
    assert "source_private_hosts does not allow it" in why
    assert hub.asked == []


async def test_wrong_look_ups_are_refused(http: httpx.AsyncClient, hub: Hub) -> None:
    for more, field, what in [
        (', on_missing = "nowhere"', "on_missing", "it should be one of cancelled, refused"),
        (', items = "x"', "items", "has no such field"),
        (', cache = "9w"', "cache", "at most"),
    ]:
        answer = await apply(http, hub.url, more)
        assert answer.status_code == 400
        (one,) = answer.json()["errors"]
        assert one["pointer"] == f"/configure/snow/let/esa/{field}"
        assert what in one["message"]


async def test_unknown_kinds_are_refused_with_the_known_ones(http: httpx.AsyncClient) -> None:
    for before, after, pointer in [
        ('"directory"', '"directroy"', "/source/scenes/kind"),
        ('"http", url', '"htpp", url', "/configure/snow/let/esa/plugin"),
    ]:
        text = SETUP.format(url="https://hub.example", more="").replace(before, after)
        answer = await http.put("/v1/setups/snow", content=text, headers=TOML)
        assert answer.status_code == 400
        (one,) = answer.json()["errors"]
        assert one["pointer"] == pointer
        assert "http" in one["message"]


BEARER = ', headers = {Authorization = "Bearer ${secret.hub}"}'


async def test_look_up_is_told_secrets_of_the_owner_and_shows_none(
    asking: LiveApi, http: httpx.AsyncClient, database: dict[str, str], hub: Hub
) -> None:
    text = SETUP.format(url=hub.url, more=BEARER)
    text = text.replace("esa - item.measured > duration('3h') ? 'yes' : 'no'", "esa")
    assert (await http.put("/v1/setups/snow", content=text, headers=TOML)).status_code == 200
    hub.known = {"T": {"published": "the canary-77 sings"}}
    await find(database, "T", measured=MEASURED, cloud=1)
    await go_on(asking, database)
    waits = "let.esa has no answer: its owner has no secret hub"
    assert await shown(http) == {"T": ("waiting", waits)}

    await http.put("/v1/secrets/hub", json={"value": "canary-77"})
    await go_on(asking, database)
    assert hub.logins == ["Bearer canary-77"]
    assert await shown(http) == {"T": ("b1.j1", "")}
    job = (await http.get("/v1/batches/1/jobs/1")).json()
    assert job["spec"]["env"]["LATE"] == "the ${secret.hub} sings"


async def test_look_up_with_a_credential_in_the_open_is_refused(http: httpx.AsyncClient) -> None:
    for url, more, why in [
        ("https://hub.example", ', query = {api_key = "literal"}', "api_key is a credential"),
        ("https://hub.example", ', headers = {Authorization = "x"}', "Authorization is a credent"),
        ("https://${{param.host}}", BEARER, "write out its host"),
        ("https://hub.example${{param.end}}", BEARER, "write out its host"),
        ("https://ann:literal@hub.example", "", "write its password as"),
        ("https://ann:x${{secret.a}}@hub.example", "", "write all of the password"),
    ]:
        answer = await apply(http, url.replace("{{", "{").replace("}}", "}"), more)
        assert answer.status_code == 400
        assert why in answer.text
