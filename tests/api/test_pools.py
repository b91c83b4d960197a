"""Pools over HTTP: saved, listed, shown, and refused."""

from typing import Any

import httpx
from httpx import AsyncClient

from api.test_tenants import create
from weft.core.problems import PROBLEMS_MAX

SMALL = {"name": "small", "cpu": "500m", "memory": "1Gi", "labels": {"rack": "12"}}
BURST = {
    "name": "burst",
    "provider": "process",
    "max_workers": 4,
    "regions": ["local"],
    "quota_cpu": 8,
    "flavours": [SMALL],
}

SHARED = {**BURST, "name": "shared"}


async def save(http: AsyncClient, *pools: dict[str, Any], dry_run: bool = False) -> dict[str, Any]:
    answer = await http.put("/v1/pools", json={"pools": pools, "dry_run": dry_run})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def use(http: AsyncClient, **flavour: object) -> None:
    """Save a pool with a flavour, and a queue that uses it."""
    await save(http, {**BURST, "flavours": [{**SMALL, **flavour}]})
    queue = {"name": "burst", "priority": 1, "pools": ["burst"]}
    await http.put("/v1/queues", json={"queues": [queue]})


async def test_pools_are_planned_and_saved(http: AsyncClient) -> None:
    planned = await save(http, BURST, dry_run=True)
    nothing = await http.get("/v1/pools/burst")
    saved = await save(http, BURST)
    again = await save(http, BURST)
    changed = await save(http, {**BURST, "flavours": [{**SMALL, "cpu": 1}]})
    shown = (await http.get("/v1/pools/burst")).json()
    listed = (await http.get("/v1/pools")).json()["items"]
    log = (await http.get("/v1/pools/burst/log")).json()["items"]
    costs = (await http.get("/v1/pools/burst/cost")).json()["items"]
    left = await save(http)
    described = (await http.get("/v1/pools/burst")).json()

    assert (planned["changes"], planned["dry_run"]) == (saved["changes"], True)
    assert nothing.json()["code"] == "WORKER.POOL_NOT_FOUND"
    assert (again["changes"], again["surplus"]) == ([], [])
    flavour = {
        "cpu_m": 500,
        "memory_mib": 1024,
        "storage_mib": 0,
        "gpus": 0,
        "countables": {},
        "labels": {"rack": "12"},
        "containers": False,
        "preemptible": False,
        "walltime_s": 0,
        "price_per_hour": "0",
    }
    assert changed["changes"] == [
        {
            "kind": "change",
            "pool": "burst",
            "fields": {"flavour small": [flavour, {**flavour, "cpu_m": 1000}]},
        }
    ]
    assert (shown["plan"]["quota_cpu_m"], shown["plan"]["regions"]) == (8000, ["local"])
    assert (shown["machines"], shown["machine_list"]) == ({}, [])
    assert {one["pool"]: one["plan"] is None for one in listed}["burst"] is False
    assert [one["kind"] for one in log] == ["apply", "apply"]
    assert costs == []
    assert left["changes"] == [{"kind": "delete", "pool": "burst", "fields": {}}]
    assert described["plan"] is None


async def test_a_price_that_is_left_out_stays(http: AsyncClient) -> None:
    await save(http, {**BURST, "flavours": [{**SMALL, "price_per_hour": "0.05"}]})
    again = await save(http, BURST)
    free = await save(http, {**BURST, "flavours": [{**SMALL, "price_per_hour": 0}]})

    assert again["changes"] == []
    assert [one["pool"] for one in free["changes"]] == ["burst"]


async def test_mistakes_are_named_with_their_place(http: AsyncClient) -> None:
    cases: list[tuple[Any, ...]] = [
        ({"min_workers": 5}, "/pools/0/min_workers", "more than max_workers, which is 4"),
        ({"provider": None}, "/pools/0/max_workers", "name a provider"),
        ({"provider": "x"}, "/pools/0/provider", "known: kubernetes, nomad, openstack"),
        ({"flavours": []}, "/pools/0/max_workers", "at least one flavour"),
        ({"create_batch": 11}, "/pools/0/create_batch", "creates_per_round"),
        ({"regions": ["a", "a"]}, "/pools/0/regions", "each once"),
        ({"quota_cpu": -1}, "/pools/0/quota_cpu", "cannot be negative"),
        ({"delete_share": 0}, "/pools/0/delete_share", ""),
        ({"idle_s": -1}, "/pools/0/idle_s", ""),
        ({"wrong": 1}, "/pools/0/wrong", "no such field"),
        ({"flavours": [SMALL, SMALL]}, "/pools/0/flavours/1/name", "twice"),
        ({"flavours": [{**SMALL, "cpu": "x"}]}, "/pools/0/flavours/0/cpu", "number of cores"),
        ({"flavours": [{**SMALL, "memory": 8}]}, "/pools/0/flavours/0/memory", "no unit"),
        ({"flavours": [{**SMALL, "labels": {"gpu": "a"}}]}, "/pools/0/flavours/0/labels/gpu", ""),
        ({"flavours": [{**SMALL, "gpus": -1}]}, "/pools/0/flavours/0/gpus", ""),
        (
            {"flavours": [{**SMALL, "countables": {"gpu": 1}}]},
            "/pools/0/flavours/0/countables/gpu",
            "the field gpus",
        ),
        (
            {"flavours": [{**SMALL, "countables": {"rack": 1}}]},
            "/pools/0/flavours/0/countables/rack",
            "a label, too",
        ),
        (
            {"flavours": [{**SMALL, "countables": {"slots": 1}}]},
            "/pools/0/flavours/0/countables/slots",
            "can offer once",
        ),
        (
            {"flavours": [{**SMALL, "price_per_hour": "-1"}]},
            "/pools/0/flavours/0/price_per_hour",
            "not a price",
        ),
        (
            {"flavours": [{**SMALL, "price_per_hour": "NaN"}]},
            "/pools/0/flavours/0/price_per_hour",
            "not a price",
        ),
    ]
    for wrong, pointer, words in cases:
        answer = await http.put("/v1/pools", json={"pools": [{**BURST, **wrong}]})

        assert answer.status_code == 400, answer.text
        (error,) = answer.json()["errors"]
        assert error["pointer"] == pointer
        assert words in error["message"]


async def test_twice_one_name_and_too_many_are_refused(http: AsyncClient) -> None:
    twice = await http.put("/v1/pools", json={"pools": [BURST, BURST]})
    many = await http.put("/v1/pools", json={"pools": [BURST] * (PROBLEMS_MAX + 1)})

    assert twice.json()["errors"][0]["pointer"] == "/pools/1/name"
    assert many.json()["errors"][0]["message"] == "101 pools, at most 100"


async def test_a_job_that_only_a_flavour_holds_is_taken(http: AsyncClient) -> None:
    asked = {"cpu": 7, "rack": "12", "gpu": 2, "matlab": 1}
    jobs, more = (
        [{"queue": "burst", "command": ["true"], "resources": {**asked, "gpu": gpus}}]
        for gpus in (2, 3)
    )
    await use(http, cpu=8, gpus=2, countables={"matlab": 1})
    taken = await http.post("/v1/batches", json={"jobs": jobs})
    refused = await http.post("/v1/batches", json={"jobs": more})

    assert taken.status_code == 201, taken.text
    assert "asks for 3 gpu; the largest worker has 2" in refused.text


async def test_only_jobs_that_bear_it_may_lose_their_machine(http: AsyncClient) -> None:
    await use(http, cpu=8, preemptible=True)
    job = {"queue": "burst", "command": ["true"], "resources": {"cpu": 7}}
    refused = await http.post("/v1/batches", json={"jobs": [job]})
    taken = await http.post("/v1/batches", json={"jobs": [{**job, "preemptible": True}]})

    (error,) = refused.json()["errors"]
    assert "preemptible: true" in error["message"]
    assert taken.status_code == 201, taken.text


async def test_a_job_may_name_several_words_of_which_one_is_offered(http: AsyncClient) -> None:
    await use(http, cpu=8)

    async def ask(rack: object) -> httpx.Response:
        job = {"command": ["true"], "resources": {"cpu": 1, "rack": rack}, "queue": "burst"}
        return await http.post("/v1/batches", json={"jobs": [job]})

    taken = await ask(["13", "12"])
    wrong = [(await ask(rack)).json()["errors"][0] for rack in (["13", "14"], [], [1], 12)]

    assert taken.status_code == 201, taken.text
    assert [one["message"] for one in wrong] == [
        "no worker offers rack '13' or '14'; known: 12",
        "0 words, expected 1 to 20",
        "expected text, or a list of texts",
        "expected text, or a list of texts",
    ]


async def test_wrong_options_of_a_provider_are_refused(http: AsyncClient) -> None:
    options = {"slot": 2, "slots": 0, "gpus": "0,0"}
    refused = await http.put("/v1/pools", json={"pools": [{**BURST, "options": options}]})
    wrong = [
        (await http.put("/v1/pools", json={"pools": [{**BURST, "options": {"slots": slots}}]}))
        for slots in ("two", True, 1.5, 1_000_001)
    ]
    await save(http, {**BURST, "options": {"slots": 2, "gpus": 0}})

    assert [(one["pointer"], one["message"]) for one in refused.json()["errors"]] == [
        ("/pools/0/options/gpus", "the GPU '0' is named twice"),
        ("/pools/0/options/slot", "the provider process has no such option; known: gpus, slots"),
        ("/pools/0/options/slots", "expected a whole number from 1 to 1,000,000"),
    ]
    assert [one.json()["errors"][0]["pointer"] for one in wrong] == ["/pools/0/options/slots"] * 4


async def test_a_flavour_cannot_have_the_label_of_machines_for_one_job(http: AsyncClient) -> None:
    flavour = {**SMALL, "labels": {"machine": "a"}}
    refused = await http.put("/v1/pools", json={"pools": [{**BURST, "flavours": [flavour]}]})

    assert [(one["pointer"], one["message"]) for one in refused.json()["errors"]] == [
        ("/pools/0/flavours/0/labels/machine", "this name is reserved")
    ]


async def test_a_job_names_the_flavour_of_a_machine_of_its_own(http: AsyncClient) -> None:
    """It is refused if its pool makes none of this name, or if the job does not fit there."""
    await save(http, {**BURST, "name": "default"})
    own = {"machine": "small", "resources": {"cpu": "500m"}}
    accepted = await http.post("/v1/batches", json={"jobs": [own]})
    assert accepted.status_code == 201, accepted.text
    shown = (await http.get(f"/v1/batches/{accepted.json()['id']}/jobs/1")).json()
    wrong = [
        own,
        {**own, "machine": "large"},
        {**own, "resources": {"cpu": 1}},
        {**own, "resources": {"cpu": "500m", "machine": "small"}},
    ]
    errors = (await http.post("/v1/batches", json={"jobs": wrong})).json()["errors"]

    assert (shown["machine"], shown["state"]) == ("small", "ready")
    assert [(one["pointer"], one["message"]) for one in errors] == [
        ("/jobs/1/machine", "its pool makes no machines 'large'; known: small"),
        ("/jobs/2/resources/cpu", "asks for 1 cpu; the largest worker has 0.5 cpu"),
        ("/jobs/3/resources/machine", errors[2]["message"]),
    ]
    assert "no worker offers this" in errors[2]["message"]


async def test_what_a_pool_of_another_tenant_offers_is_not_told(http: AsyncClient) -> None:
    """Neither in the words of a refusal, nor because it is another one."""
    headers = {name: await create(http, name) for name in ("acme", "other")}
    offers = {"cpu": 77, "labels": {"vault": "12"}, "countables": {"matlab": 3}}
    await save(http, {**BURST, "tenant": "acme", "flavours": [{**SMALL, **offers}]}, SHARED)
    queue = {"name": "q", "priority": 1, "pools": ["burst"], "guard": "true"}
    await http.put("/v1/queues", json={"queues": [queue]}, headers=headers["acme"])

    async def asked(name: str, **resources: Any) -> tuple[int, str]:  # noqa: ANN401
        """Submit a job with these resources; return the answer, without what was asked for."""
        answer = await http.post(
            "/v1/batches", json={"jobs": [{"resources": resources}]}, headers=headers[name]
        )
        said = answer.text.partition('"errors":')[2]
        return answer.status_code, said.replace(next(iter(resources)), "NAME")

    told = [
        await asked("other", **{name: one})
        for name, one in [("vault", "12"), ("nothing", "12"), ("matlab", 1)]
    ]
    own = [
        await asked("acme", **{name: one})
        for name, one in [("vault", "12"), ("matlab", 1), ("cpu", 77)]
    ]

    assert told == [told[0]] * 3
    assert (told[0][0], "vault" in told[0][1], "rack" in told[0][1]) == (400, False, True)
    assert [status for status, _ in own] == [201] * 3
