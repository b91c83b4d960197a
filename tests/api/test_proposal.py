"""The proposal of the reference for HR-S&I, as it stands there: what is taken of it, what is not.

`hrsi_proposal.toml` is never changed; what a site writes instead of some of its lines stands here.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from httpx import AsyncClient

from api.live import LiveApi, as_admin
from api.test_look_ups import Hub, asking, go_on, hub
from api.test_sources import TOML, find
from weft.cli.input.line_texts import with_texts
from weft.settings import Settings

__all__ = ["asking", "hub"]
PROPOSAL = Path(__file__).with_name("hrsi_proposal.toml").read_text()
REFUSED = {
    "/job/fsc_rlie/logs": "line 97: a template has no such field: weft keeps logs",
    "/job/fsc_rlie/nomad": "line 91: a template has no such field: weft runs no job that Nomad",
    "/sink/wekeo/rejected": "line 108: weft hears no rejections from a queue",
}
INSTEAD = {
    81: 'let.esa = { plugin = "http", url = "HUB/of/${item.product_id}", value = "answer.at" }',
    90: 'executor = "container"',
    91: 'command = ["run-worker"]',
    97: "",
    108: 'rejected = { tries = 3, path = ["external_error", "error_checked", "done"] }',
}
"""By line: what a site writes for what was refused, and for a plug-in that it has not."""
BESIDE = {
    "publication.json.tmpl": "{{ product | tojson }}\n",
    "eea39.wkt": "POLYGON((1 2, 3 4))\n",
}
"""Files of a site, which the command reads."""
MEDIUM: dict[str, Any] = {
    "name": "medium",
    "provider": "openstack",
    "max_workers": 210,
    "create_batch": 3,
    "creates_per_round": 10,
    "deletes_per_round": 10,
    "delete_share": 0.33,
    "idle_s": 120,
    "stale_s": 900,
    "quota_cpu": 920,
    "quota_share": 0.95,
    "options": {
        "template": "tf-titi",
        "image_prefix": "os-worker-template-",
        "networks": "a",
        "ready_when": "init_instance_finished_with_success",
        "ready_within_s": 600,
    },
    "flavours": [
        {"name": "hm.medium", "cpu": 2, "memory": "16Gi", "storage": "64Gi", "containers": True}
    ],
}
OTHERS = [{"name": name} for name in ("large", "xlarge", "small")]
QUEUE = {"name": "production", "priority": 1, "pools": ["medium", "large", "xlarge", "small"]}
BUCKETS = ("EODATA", "aux", "HRSI")
STORE = {"access": "write", "secret": "key"}
ITEM = {
    "tile": "32TLR",
    "path": "S2/a.zip",
    "product_id": "a",
    "measured": "2021-04-13T10:13:47Z",
    "published": "2021-04-13T13:40:00Z",
}


TRANSPORTS = """
[[transports]]
name = "other"
kind = "rabbitmq"
address = "amqp://endpoint.example:5671"
tenants = ["local"]
[[transports]]
name = "endpoint"
kind = "rabbitmq"
address = "amqps://endpoint.example:5671"
tenants = ["local"]
[[transports]]
name = "theirs"
kind = "rabbitmq"
address = "amqps://endpoint.example"
tenants = ["others"]
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Give the tenant a broker at the proposal's endpoint, and pools its period."""
    (file := tmp_path / "transports.toml").write_text(TRANSPORTS)
    return Settings(home=tmp_path, transports_file=file, autoscale_s=5)


async def put(http: AsyncClient, text: str) -> dict[str, str]:
    """Apply a line; return what is refused."""
    answer = await http.put("/v1/setups/hrsi", content=text, headers=TOML)
    assert answer.status_code in {200, 400}, answer.text
    return {one["pointer"]: one["message"] for one in answer.json().get("errors", ())}


async def make(http: AsyncClient, medium: dict[str, Any]) -> None:
    for path, body in (
        ("/v1/pools", {"pools": [medium, *OTHERS]}),
        ("/v1/queues", {"queues": [QUEUE]}),
        ("/v1/secrets/key", {"value": "AKIA:none"}),
        *((f"/v1/stores/{name.lower()}", {**STORE, "url": f"s3://{name}"}) for name in BUCKETS),
    ):
        answer = await http.put(path, json=body)
        assert answer.status_code == 200, answer.text


def line_of_a_site(directory: Path, url: str = "http://127.0.0.1") -> str:
    """Return the line as the command sends it."""
    lines = PROPOSAL.splitlines()
    for number, line in INSTEAD.items():
        lines[number - 1] = line.replace("HUB", url)
    for name, text in BESIDE.items():
        (directory / name).write_text(text)
    return with_texts("\n".join(lines), directory)


async def test_what_would_do_something_else_is_refused_with_its_line(http: AsyncClient) -> None:
    found = await put(http, PROPOSAL)
    assert found.keys() == REFUSED.keys()
    assert [one for one in REFUSED if not found[one].startswith(REFUSED[one])] == []
    assert (await http.get("/v1/setups/hrsi")).status_code == 404


async def test_pools_queues_and_stores_should_be_as_it_says(
    http: AsyncClient, tmp_path: Path
) -> None:
    pytest.importorskip("openstack")
    line = line_of_a_site(tmp_path)
    assert await put(http, line) == {
        "/pool/medium": "line 114: nobody has described this pool: `weft pool apply FILE` does",
        "/queue/production/pools": "line 112: the queue is not there: `weft queue apply FILE` "
        "changes it",
    }
    options = {**MEDIUM["options"], "template": "tf-other"}
    await make(http, {**MEDIUM, "max_workers": 9, "options": options, "delete_share": 0.5})
    assert await put(http, line.replace('10, every = "5s"', '10, every = "6s"')) == {
        "/pool/medium/cordon/share": "line 122: the pool has 0.5 there (`weft pool apply FILE`)",
        "/pool/medium/max": "line 117: the pool has 9 there (`weft pool apply FILE`)",
        "/pool/medium/create/every": "line 119: the driver looks every 5 s (setting autoscale_s)",
        "/pool/medium/template/server": "line 118: the pool has tf-other there "
        "(`weft pool apply FILE`)",
    }
    await make(http, MEDIUM)
    answer = await http.request("DELETE", "/v1/stores/aux", json={})
    assert answer.status_code == 200, answer.text
    assert await put(http, line) == {
        "/job/fsc_rlie/inputs/1": "line 95: no store of the tenant is in s3://aux: `weft store "
        "add NAME s3://aux` makes one"
    }


async def test_with_other_lines_an_item_becomes_its_job(
    asking: LiveApi, http: AsyncClient, database: dict[str, str], hub: Hub, tmp_path: Path
) -> None:
    pytest.importorskip("openstack")
    await make(http, MEDIUM)
    line = line_of_a_site(tmp_path, hub.url)
    for old, new in (("@endpoint", "@elsewhere"), ("/${env.", "/v/${env."), ("}:${", "}:x${")):
        found = await put(http, line.replace(old, new))
        assert found.keys() == {"/sink/wekeo/url"}, found
    assert await put(http, line) == {}
    hub.known = {"a": {"at": "2021-04-13T13:02:00Z"}}
    await find(database, "a/nrt", **ITEM)
    await go_on(asking, database)

    job = (await http.get("/v1/batches/1/jobs/1")).json()
    spec = job["spec"]
    assert (job["status"], job["queue"], job["priority"]) == ("ready", "production", 2)
    assert (job["attributes"]["priority_name"], job["attributes"]["series"]) == ("nrt", "32TLR")
    assert (spec["env"]["MODE"], spec["env"]["L2A_IN"]) == ("init", "")
    assert spec["container"] == {"image": "docker://si_software:1.0"}
    assert spec["inputs"] == [
        {"from": "store://eodata/S2/a.zip"},
        {"from": "store://aux/csi_aux/csi_aux_32TLR.tar"},
    ]
    assert spec["outputs"] == [
        {
            "from": "products/*",
            "to": "store://hrsi/CLMS/Pan-European/High_Resolution_Layers/"
            "${product.theme}/${product.type}/2021/04/13/",
            "strip": True,
        },
        {"from": "products/*.json", "optional": True, "announce": True},
    ]
    limits = (await http.get("/v1/lifecycles/hrsi")).json()["limits"]
    assert limits["processing"] == "16200s", limits
    (sink,) = await as_admin(
        database,
        "SELECT document ->> 'url', document -> 'options', document ->> 'message' FROM weft.sink",
    )
    (source,) = await as_admin(
        database, "SELECT options -> 'query' ->> 'geometry' FROM weft.source"
    )
    assert (source[0], sink[2]) == ("POLYGON((1 2, 3 4))", "{{ product | tojson }}")
    assert (sink[0], json.loads(sink[1])) == (
        "amqp:endpoint",
        {"transport": "endpoint", "exchange": "product_publication", "routing_key": "json"},
    )
    assert [one["source"] for one in (await http.get("/v1/lines")).json()["sources"]] == ["l1c"]
