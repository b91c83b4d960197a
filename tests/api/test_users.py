"""Users over HTTP: who is let in, with which role, and what happens when they are removed."""

import asyncio

import httpx
import pytest

from api.live import LiveApi, LiveWorker, add, fold, until
from weft.core.access.rights import UserRole
from weft.core.errors import RightMissing
from weft.core.states import Reason
from weft.ports.store import Caller

pytestmark = pytest.mark.usefixtures("remember_long")


async def test_role_holds_from_now_on(http: httpx.AsyncClient) -> None:
    bob = await add(http, "bob")
    before = await http.post("/v1/batches", json={}, headers=bob)
    changed = await http.patch("/v1/users/bob", json={"role": "worker"})
    await until(http, 403, bob)
    who = (await http.get("/v1/whoami", headers=bob)).json()

    assert before.status_code == 201
    assert changed.json()["role"] == who["role"] == "worker"


async def test_removed_user_is_refused_and_their_jobs_go_on(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    bob = await add(http, "bob")
    made = (await http.post("/v1/batches", json={"jobs": [{}, {}]}, headers=bob)).json()
    await http.post(
        "/v1/schedules", json={"cron": "0 2 * * *", "document": {"jobs": [{}]}}, headers=bob
    )
    removed = await http.request("DELETE", "/v1/users/bob")
    await until(http, 401, bob)
    ran = await worker.work()
    batch = (await http.get(f"/v1/batches/{made['id']}")).json()
    (schedule,) = (await http.get("/v1/schedules")).json()["items"]
    project = (await http.get("/v1/billing-projects/default")).json()
    back = await add(http, "bob")

    assert removed.json() == {"name": "bob", "on_user_removal": "finish", "n_cancelled": 0}
    assert (ran, batch["state"], batch["user"]) == (2, "success", "bob")
    assert schedule["paused_at"] is not None
    assert project["members"] == ["tester"]
    assert (await http.post("/v1/batches", json={}, headers=back)).status_code == 201
    assert (await http.get("/v1/batches", headers=bob)).status_code == 401


async def test_batches_of_a_removed_user_are_cancelled_on_request(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    bob = await add(http, "bob")
    b, mine = [
        (await http.post("/v1/batches", json={"jobs": [{}]}, headers=header)).json()["id"]
        for header in (bob, {})
    ]
    removed = await http.request("DELETE", "/v1/users/bob?cancel_batches=true")
    again = await http.request("DELETE", "/v1/users/BOB?cancel_batches=true")
    states = [(await http.get(f"/v1/batches/{one}")).json()["cancelled"] for one in (b, mine)]

    done = {"name": "bob", "on_user_removal": "cancel"}
    assert [one.json() for one in (removed, again)] == [{**done, "n_cancelled": n} for n in (1, 0)]
    assert states == [True, False]
    assert await worker.work() == 1


@pytest.mark.parametrize(
    ("configured", "query", "end"),
    [
        ("cancel", "", "cancelled"),
        ("cancel", "?cancel_batches=false", "success"),
        ("finish", "?cancel_batches=true", "cancelled"),
        ("finish", "", "success"),
    ],
)
async def test_jobs_of_a_removed_user_end_as_the_tenant_has_configured(
    http: httpx.AsyncClient,
    worker: LiveWorker,
    database: dict[str, str],
    configured: str,
    query: str,
    end: str,
) -> None:
    """Unless the removal says otherwise; what runs is billed either way."""
    bob = await add(http, "bob")
    b = (await http.post("/v1/batches", json={"jobs": [{}, {}]}, headers=bob)).json()["id"]
    claimed = await worker.claim_and_start(1)
    await http.patch("/v1/tenants/local", json={"on_user_removal": configured})
    removed = await http.request("DELETE", f"/v1/users/bob{query}")
    repeated = await http.request("DELETE", f"/v1/users/bob{query}")
    running = [(one.batch_id, one.job_id, one.attempt) for one in claimed]
    to_stop = await worker.store.list_to_stop(worker.incarnation_id, running)
    await worker.end(claimed, reason=Reason.CANCELLED if to_stop else None)
    n_ran = await worker.work()
    await fold(database["weft_driver"])
    batch = (await http.get(f"/v1/batches/{b}")).json()

    is_cancelled = end == "cancelled"
    done = {"name": "bob", "on_user_removal": "cancel" if is_cancelled else "finish"}
    assert removed.json() == {**done, "n_cancelled": int(is_cancelled)}
    assert repeated.json() == {**done, "n_cancelled": 0}
    assert (batch["state"], batch["complete"], batch["cost"] > 0) == (end, True, True)
    assert (len(to_stop), n_ran) == ((1, 0) if is_cancelled else (0, 1))


async def test_what_a_removed_user_has_begun_runs_no_more_jobs(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    """A resubmission has no batch yet, and a retry may be of a batch that has ended."""
    bob, asked = await add(http, "bob"), []
    for what in ("retry", "resubmit"):
        b = (await http.post("/v1/batches", json={"jobs": [{}]}, headers=bob)).json()["id"]
        claimed = await worker.claim_and_start()
        await worker.end(claimed, exit_code=1)
        begun = await http.post(f"/v1/batches/{b}/{what}", json={}, headers=bob)
        asked.append(f"/v1/operations/{begun.json()['id']}")
    await http.request("DELETE", "/v1/users/bob")
    kept = [(await http.get(one)).json()["state"] for one in asked]
    removed = await http.request("DELETE", "/v1/users/bob?cancel_batches=true")
    ended = [(await http.get(one)).json() for one in asked]

    assert kept == ["running"] * 2
    assert removed.status_code == 200
    assert [(one["state"], one["error"]["code"]) for one in ended] == [
        ("failed", RightMissing.code)
    ] * 2


async def test_nobody_gives_a_role_above_their_own(http: httpx.AsyncClient) -> None:
    tim = await add(http, "tim", role="tenant-admin")
    scoped = (
        await http.post("/v1/tokens", json={"name": "m", "scopes": ["manage"]}, headers=tim)
    ).json()
    only_manage = {"authorization": f"Bearer {scoped['token']}"}
    refused = [
        await http.post("/v1/users", json={"name": "x", "role": "admin"}, headers=tim),
        await http.patch("/v1/users/tim", json={"role": "admin"}, headers=tim),
        await http.patch("/v1/users/tester", json={"role": "user"}, headers=tim),
        await http.request("DELETE", "/v1/users/tester", headers=tim),
        await http.post("/v1/users", json={"name": "x", "role": "user"}, headers=only_manage),
        await http.request("DELETE", "/v1/users/x?cancel_batches=true", headers=only_manage),
    ]
    given = await http.post("/v1/users", json={"name": "o", "role": "operator"}, headers=tim)

    assert [(one.status_code, one.json()["code"]) for one in refused] == [
        (403, "API.RIGHT_MISSING")
    ] * len(refused)
    assert refused[0].json()["title"] == "you may not give the role admin"
    assert refused[2].json()["title"] == 'user "tester" may do more than you'
    assert given.status_code == 201


async def test_last_administrator_stays(http: httpx.AsyncClient) -> None:
    degraded = await http.patch("/v1/users/tester", json={"role": "tenant-admin"})
    removed = await http.request("DELETE", "/v1/users/tester")
    await add(http, "ann", role="admin")
    allowed = await http.patch("/v1/users/tester", json={"role": "user"})

    for answer in (degraded, removed):
        assert (answer.status_code, answer.json()["code"]) == (409, "API.LAST_ADMINISTRATOR")
        assert answer.json()["title"] == 'user "tester" is the last admin of the tenant'
    assert allowed.status_code == 200


async def test_two_administrators_cannot_remove_each_other(
    api: LiveApi, http: httpx.AsyncClient
) -> None:
    """One of the two removals comes too late, whichever it is."""
    who = await api.store.authenticate("token-of-a-test")
    assert who is not None
    for n in range(10):
        pair = []
        for name in (f"a{n}", f"b{n}"):
            await add(http, name, role="admin")
            listed = (await http.get("/v1/users?limit=1000")).json()["items"]
            user_id = next(one["user_id"] for one in listed if one["name"] == name)
            pair.append(Caller(who.tenant_id, user_id, name, UserRole.ADMIN))
        done = await asyncio.gather(
            *(
                api.store.remove_user(one, other.user_name, may_give=tuple(UserRole))
                for one, other in (pair, pair[::-1])
            ),
            return_exceptions=True,
        )

        assert sum(isinstance(one, Exception) for one in done) == 1


async def test_user_who_is_not_there_is_named(http: httpx.AsyncClient) -> None:
    answer = await http.patch("/v1/users/nobody", json={"role": "viewer"})

    assert (answer.status_code, answer.json()["code"]) == (404, "API.USER_NOT_FOUND")


async def test_names_are_unique_without_regard_to_case(http: httpx.AsyncClient) -> None:
    await add(http, "Ünal")
    again = await http.post("/v1/users", json={"name": "ünAL"})
    await add(http, "ci/build@x")
    removed = await http.request("DELETE", "/v1/users/ci%2Fbuild@x")

    assert (again.status_code, again.json()["code"]) == (409, "API.USER_EXISTS")
    assert again.json()["title"] == 'user "Ünal" exists already'
    assert removed.json()["name"] == "ci/build@x"


WRONG = [
    *(
        ("POST", "/v1/users", document, pointer)
        for document, pointer in (
            ({}, "/name"),
            *(
                ({"name": text}, "/name")
                for text in ("", " b", "a\nb", "a\n", "a\0b", "\x1b", "x" * 257)
            ),
            ({"name": "x", "role": "root"}, "/role"),
        )
    ),
    ("PATCH", "/v1/users/x", {"role": "root"}, "/role"),
    ("PATCH", "/v1/users/x", {}, "/role"),
    ("DELETE", "/v1/users/x?cancel_batches=1", {}, "?cancel_batches"),
]


async def test_wrong_requests_are_refused(http: httpx.AsyncClient) -> None:
    for method, path, document, pointer in WRONG:
        answer = await http.request(method, path, json=document)

        assert answer.status_code == 400, document
        assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
