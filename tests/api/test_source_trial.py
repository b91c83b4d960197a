"""A source is tried: its items and their jobs are shown, and nothing is kept."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from httpx import AsyncClient

from api.live import as_admin
from api.test_sources import TOML, apply, items
from web_server import Answer, Question, web_server
from weft.settings import Settings

LINE = """
[source.scenes]
kind = "directory"
path = "PATH"
settle = "0s"
job = "snow"

[job.snow]
command = ["snow"]

[configure.snow]
cancel_if = "item.cloud > 90"
resources = { memory = "item.memory" }
"""


CATALOGUE = """
[source.scenes]
kind = "http"
url = "http://127.0.0.1:PORT/items"
headers = { Authorization = "Bearer ${secret.catalogue}" }
job = "snow"

[job.snow]
command = ["snow"]
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Let sources read a directory of the test."""
    return Settings(
        home=tmp_path, port=0, source_paths=str(tmp_path / "in"), source_private_hosts="127.0.0.1"
    )


STATE = (
    "SELECT s::text FROM weft.source s UNION ALL SELECT i::text FROM weft.source_item i "
    "UNION ALL SELECT b::text FROM weft.batch b"
)


async def test_what_a_source_gives_and_its_jobs(
    http: AsyncClient, database: dict[str, str], tmp_path: Path
) -> None:
    """One fits, one is cancelled, one asks for too much, one cannot be read."""
    (tmp_path / "in").mkdir()
    for name, cloud, memory in (("a", 5, "1Gi"), ("b", 95, "1Gi"), ("c", 5, "much")):
        text = json.dumps({"cloud": cloud, "memory": memory})
        (tmp_path / "in" / f"{name}.json").write_text(text)
    (tmp_path / "in" / "d.json").write_text("{")
    await apply(http, LINE.replace("PATH", str(tmp_path / "in")))
    before = await as_admin(database, STATE)
    answer = await http.post("/v1/sources/scenes/trial", json={})
    assert answer.status_code == 200, answer.text
    found = {one["key"]: one for one in answer.json()["items"]}
    assert {key: (one["known"], one["state"]) for key, one in found.items()} == {
        "a": (None, "ready"),
        "b": (None, "cancelled"),
        "c": (None, "refused"),
        "d": (None, "refused"),
    }
    assert found["a"]["job"]["command"] == ["snow"]
    assert found["a"]["job"]["resources"] == {"memory": "1Gi"}
    assert found["c"]["reason"].startswith("resources/memory")
    assert (answer.json()["error"], answer.json()["n_items"]) == (None, 4)

    assert await as_admin(database, STATE) == before
    assert await items(http) == {}


SINKS = {
    "whole": "message = '{{ job.attributes.item | tojson }}'",
    "each": "products = true",
    "wrong": "message = '{{ job.none }}'",
    "events": "events = true\nmessage = '\"{{ job.event }}\"'",
}
SINK = '\n[sink.%s]\nkind = "http"\nurl = "https://hook.example/"\n%s\n'
SERIES = "[configure.snow.series]\nkey = '\"k\"'\norder = 'item.day'\n"


async def test_line_is_tried_before_it_is_applied(
    http: AsyncClient, database: dict[str, str], tmp_path: Path
) -> None:
    """What it would change, the job of one item, also one of a series, and all messages."""
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        (tmp_path / "in" / f"{name}.json").write_text('{"cloud": 5, "day": 7}')
    line = LINE.replace("PATH", str(tmp_path / "in"))
    told = f'job = "snow"\nsink = {[*SINKS]}\n'
    new = line.replace('job = "snow"\n', told).replace("item.memory", "param.memory") + SERIES
    new += "".join(SINK % one for one in SINKS.items()) + '[parameters]\nmemory = "2Gi"\n'

    async def tried(text: str, **more: object) -> Any:  # noqa: ANN401 (JSON)
        answer = await http.post("/v1/setups/snow/trial", json={"document": text, **more})
        assert answer.status_code == 200, answer.text
        return answer.json()

    before = await as_admin(database, STATE)
    (source,) = (await tried(new))["sources"]
    assert await as_admin(database, STATE) == before
    (item,) = source["items"]
    assert (source["n_items"], item["key"], item["state"]) == (2, "a", "ready"), item
    assert item["job"]["resources"] == {"memory": "2Gi"}
    assert [(one["sink"], one["message"] or one["error"]) for one in source["messages"]] == [
        ("whole", '"a"'),
        ("each", "its messages are made of products: give one"),
        ("wrong", "the message cannot be made: 'dict object' has no attribute 'none'"),
        ("events", '"start"'),
        ("events", '"complete"'),
    ]
    (source,) = (await tried(new, item={"key": "z", "cloud": 99, "day": 1}))["sources"]
    assert (source["items"][0]["state"], source["messages"]) == ("cancelled", [])

    await apply(http, line)
    changed = line.replace("> 90", "> 80") + SINK % ("new", "message = '1'")
    changes = (await tried(changed, read=False))["changes"]
    cancel_if = ["item.cloud > 90", "item.cloud > 80"]
    assert changes[0] == {
        "kind": "change",
        "part": "configure snow",
        "fields": {"cancel_if": cancel_if},
    }
    assert [(one["kind"], one["part"]) for one in changes[1:]] == [("create", "sink new")]
    gone = (await tried(line.partition("[configure")[0], read=False))["changes"]
    assert [(one["kind"], one["part"]) for one in gone] == [("delete", "configure snow")]
    assert (await http.get("/v1/setups/snow")).json()["document"] == line


async def test_source_is_read_with_secrets_of_its_owner(http: AsyncClient) -> None:
    """One that is not there is named; a value is seen by the server that is asked alone."""
    asked: list[Question] = []

    def answer(one: Question) -> Answer:
        asked.append(one)
        return Answer(b'{"items": [{"key": "a"}]}')

    with web_server(answer) as url:
        await apply(http, CATALOGUE.replace("PORT", url.rpartition(":")[2]))
        missing = (await http.post("/v1/sources/scenes/trial", json={})).json()
        await http.put("/v1/secrets/catalogue", json={"value": 'can"ary\\'})
        tried = (await http.post("/v1/sources/scenes/trial", json={})).json()
        shown = (await http.get("/v1/sources/scenes")).text

    assert missing["error"] == "its owner has no secret catalogue"
    assert (tried["error"], [one["key"] for one in tried["items"]]) == (None, ["a"])
    assert [one.headers["Authorization"] for one in asked] == ['Bearer can"ary\\']
    assert "ary" not in f"{tried}{shown}"


async def test_what_this_site_does_not_allow_is_refused_with_its_line(http: AsyncClient) -> None:
    cases = [
        (
            '[source.s]\nkind = "http"\nurl = "http://10.0.0.1/"\njob = "snow"',
            "url",
            "line 3: 10.0.0.1 is private; the setting source_private_hosts does not allow it",
        ),
        (
            '[source.s]\nkind = "command"\ncommand = ["ls", "/"]\njob = "snow"',
            "command",
            "line 3: there is no command 'ls' in the setting source_commands",
        ),
        (
            '[source.s]\nkind = "directory"\npath = "/etc/../etc"\njob = "snow"',
            "path",
            "line 3: /etc/../etc is in no directory of the setting source_paths",
        ),
        (
            '[sink.s]\nkind = "http"\nurl = "http://ann:${secret.a}@127.0.0.1/"\nmessage = "1"',
            "url",
            "line 3: 127.0.0.1 is private; the setting callback_private_hosts does not allow",
        ),
        (
            '[sink.s]\nkind = "command"\ncommand = "ls"\nmessage = "1"',
            "command",
            "line 3: there is no command 'ls' in the setting sink_commands",
        ),
    ]
    for part, field, said in cases:
        text = f'{part}\n[job.snow]\ncommand = ["snow"]\n'
        answer = await http.put("/v1/setups/snow", content=text, headers=TOML)
        assert answer.status_code == 400, answer.text
        (one,) = answer.json()["errors"]
        assert one["pointer"].endswith(f"/s/{field}")
        assert one["message"].startswith(said)
        (setting,) = re.findall(r"the setting (\w+)", one["message"])
        assert f"set {setting} in weft.toml (WEFT_{setting.upper()})" in answer.json()["hint"]


async def test_source_that_cannot_be_read_says_why(http: AsyncClient, tmp_path: Path) -> None:
    await apply(http, LINE.replace("PATH", str(tmp_path / "in")))
    answer = (await http.post("/v1/sources/scenes/trial", json={})).json()

    assert (answer["items"], answer["n_items"]) == ([], 0)
    assert "No such file" in answer["error"]
    assert (await http.post("/v1/sources/none/trial", json={})).status_code == 404
