"""`…/callbacks`: what became of them; and the secret, which is for administrators."""

from pathlib import Path
from typing import Any

import httpx

from api.fakes import TOKEN, RecordingStore, SilentNotices, client_of
from api.live import LiveWorker, fold
from weft.api.app import create_app
from weft.core.access.rights import UserRole
from weft.core.deliveries.callback_signature import tenant_secret
from weft.ports.store import Caller
from weft.settings import Settings

HOOK = "https://hook.example/x?key=1"
KEY = "key-of-a-test"


async def test_callbacks_of_a_batch_are_listed_with_what_became_of_them(
    database: dict[str, str], http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    groups = [{"path": f"/g{n}", "callback": f"{HOOK}&g={n}"} for n in (1, 2)]
    jobs = [{"group": f"/g{n}"} for n in (1, 2)]
    document = {"callback": HOOK, "groups": groups, "jobs": jobs}
    batch = (await http.post("/v1/batches", json=document)).json()["id"]
    path = f"/v1/batches/{batch}/callbacks"
    before = (await http.get(path)).json()
    await worker.work()
    await fold(database["weft_driver"])
    whole = (await http.get(path)).json()
    first = (await http.get(path, params={"limit": 2})).json()
    rest = (await http.get(path, params={"limit": 2, "cursor": first["cursor"]})).json()

    assert before == {"items": [], "cursor": None}
    assert sorted(one["group_id"] for one in whole["items"]) == [0, 1, 2]
    assert {one["state"] for one in whole["items"]} == {"pending"}
    assert {one["url"] for one in whole["items"]} == {HOOK, f"{HOOK}&g=1", f"{HOOK}&g=2"}
    assert first["items"] + rest["items"] == whole["items"]
    assert rest["cursor"] is None


async def test_callback_is_tried_again_by_number_and_by_name(
    database: dict[str, str], http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    document = {"callback": HOOK, "jobs": [{}]}
    batch = (await http.post("/v1/batches", json=document)).json()["id"]
    await worker.work()
    await fold(database["weft_driver"])
    path = f"/v1/batches/{batch}/callbacks"
    (one,) = (await http.get(path)).json()["items"]
    for name in (one["delivery_id"], one["delivery"]):
        answer = await http.post(f"{path}/{name}/redeliver", json={})
        assert (answer.status_code, answer.json()) == (200, one)
    refused = [
        await http.post(f"{path}/{wrong}/redeliver", json=body)
        for wrong, body in (("999", {}), ("x%27", {}), ("0", {}), ("1", {"x": 1}))
    ]

    assert [(one.status_code, one.json()["code"]) for one in refused] == [
        (404, "API.CALLBACK_NOT_FOUND"),
        (400, "API.INVALID_ID"),
        (400, "API.INVALID_ID"),
        (400, "API.UNKNOWN_FIELD"),
    ]


async def test_what_is_not_there_is_told(http: httpx.AsyncClient) -> None:
    for path, status, code in [
        ("/v1/batches/999/callbacks", 404, "API.BATCH_NOT_FOUND"),
        ("/v1/batches/x/callbacks", 400, "API.INVALID_ID"),
        ("/v1/batches/1/callbacks?x=1", 400, "API.INVALID_PARAMETER"),
        ("/v1/batches/1/callbacks?cursor=x", 400, "API.INVALID_PARAMETER"),
        ("/v1/callbacks/secret", 409, "API.NO_CALLBACK_KEY"),
        ("/v1/callbacks/secret?x=1", 400, "API.INVALID_PARAMETER"),
    ]:
        answer = await http.get(path)

        assert (answer.status_code, answer.json()["code"]) == (status, code)


class _Store(RecordingStore):
    """Knows one caller."""

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self.caller = caller

    async def authenticate(self, token: str) -> Caller | None:
        return self.caller if token == TOKEN else None


async def ask_for_secret(caller: Caller, home: Path) -> httpx.Response:
    store: Any = _Store(caller)
    logs: Any = None
    app = create_app(store, SilentNotices(), logs, Settings(home=home), callback_key=KEY)
    async with client_of(app, authorization=f"Bearer {TOKEN}") as client:
        return await client.get("/v1/callbacks/secret")


async def test_administrator_gets_the_secret_of_the_own_tenant(tmp_path: Path) -> None:
    answers = [
        await ask_for_secret(Caller(tenant, 1, "root", UserRole.TENANT_ADMIN), tmp_path)
        for tenant in (1, 2)
    ]
    secrets = [answer.json()["secret"] for answer in answers]

    assert secrets == [tenant_secret(KEY, 1), tenant_secret(KEY, 2)]
    assert secrets[0] != secrets[1]
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}
    assert KEY not in answers[0].text
