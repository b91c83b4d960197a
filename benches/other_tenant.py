"""A tenant that has one of everything that the path of a route may name."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from weft.bench.plan import BenchFailed
from weft.core.ends.conditions import Ask
from weft.core.states import AttemptKey, Reason
from weft.ports.store import Claimed, ClaimRequest, EndReport, StartReport, WorkerStore
from weft.store import open_worker_store

LOOK_S: Final = 0.05
DIGEST: Final = "ab" * 32
EXIT_BLOCKED: Final = 75
_DONE: Final = 0
_BLOCKED: Final = 1
_RUNNING: Final = 2


@dataclass
class OtherTenant:
    """A tenant and its things."""

    word: str
    """What all its names begin with."""
    url: str
    site_token: str
    ids: dict[str, Any] = field(default_factory=dict)
    """By parameter; those with several meanings by the path before it."""
    token: str = ""
    """Of its administrator."""

    @property
    def pool(self) -> Mapping[str, str]:
        """Return the description of a pool of this tenant alone."""
        return {"name": f"{self.word}-pool", "tenant": f"{self.word}-tenant"}

    async def fill(self, worker_dsn: str, others: "Sequence[OtherTenant]") -> None:
        """Make one of everything. `others`: those that are filled already. A driver must run."""
        async with httpx.AsyncClient(base_url=self.url, timeout=60) as http:
            maker = _Maker(self, http)
            await maker.make_people()
            await maker.open_session()
            await maker.make_machines([one.pool for one in others])
            await maker.submit()
            async with open_worker_store(worker_dsn) as store:
                await maker.run(store)
            await maker.change()


class _Maker:
    def __init__(self, tenant: OtherTenant, http: httpx.AsyncClient) -> None:
        self._tenant = tenant
        self._word = tenant.word
        self._ids = tenant.ids
        self._http = http

    async def make_people(self) -> None:
        word = self._word
        tenant = {"name": f"{word}-tenant", "admin": f"{word}-ann"}
        made = await self._ask("POST", "/v1/tenants", tenant, token=self._tenant.site_token)
        self._tenant.token = made["token"]
        user, project, secret, query = (
            f"{word}-{one}" for one in ("bob", "project", "secret", "query")
        )
        await self._ask("POST", "/v1/users", {"name": user})
        await self._ask("POST", "/v1/billing-projects", {"name": project})
        await self._ask("PUT", f"/v1/billing-projects/{project}/members/{user}")
        await self._ask("PUT", f"/v1/secrets/{secret}", {"value": word})
        await self._ask("PUT", f"/v1/saved-queries/{query}", {"query": "name = x"})
        token = await self._ask("POST", "/v1/tokens", {"name": "spare"})
        self._ids |= {
            "tenant": tenant["name"], "user": user, "p": project, "secret": secret,
            "saved": query, "t": token["token_id"],
        }  # fmt: skip

    async def open_session(self) -> None:
        link = await self._ask("POST", "/v1/login-links")
        code = link["url"].partition("=")[2]
        answer = await self._http.post(
            "/login", data={"code": code}, headers={"origin": self._tenant.url}
        )
        _check(answer)
        self._http.cookies.clear()
        (session,) = (await self._ask("GET", "/v1/sessions"))["items"]
        self._ids["session"] = session["session_id"]

    async def make_machines(self, other_pools: Sequence[Mapping[str, str]]) -> None:
        """Make a pool of this tenant alone, and a queue that uses it."""
        pool, queue = self._tenant.pool["name"], f"{self._word}-queue"
        pools = {"pools": [*other_pools, self._tenant.pool]}
        await self._ask("PUT", "/v1/pools", pools, token=self._tenant.site_token)
        queues = [{"name": queue, "priority": 1, "pools": [pool]}]
        await self._ask("PUT", "/v1/queues", {"queues": queues})
        self._ids |= {"pools/{p}": pool, "q": queue, "w": f"{self._word}-worker"}

    async def submit(self) -> None:
        """Submit a batch that ends, one that is blocked, and one that goes on."""
        job = {"queue": self._ids["q"]}
        callback = "https://hook.example/"
        document = {"billing_project": self._ids["p"], "callback": callback}
        batches = []
        for jobs in ([job], [job], [job | {"group": "/g"}, {"parents": [1]}]):
            made = await self._ask("POST", "/v1/batches", document | {"jobs": jobs})
            batches.append(made["id"])
        batch = batches[_RUNNING]
        path = f"/v1/batches/{batch}"
        await self._ask("POST", f"{path}/updates", {"n_jobs": 1})
        payload = f"{path}/payloads/{DIGEST}/1?bytes=1"
        await self._ask("PUT", payload, content=b"x")
        for of in (path, f"{path}/jobs/1"):
            grant = {"permission": "read"}
            await self._ask("PUT", f"{of}/permissions/{self._ids['user']}", grant)
        self._ids |= {
            "b": batch, "done": batches[_DONE], "a": 1, "g": 1, "j": 1, "n": 1, "u": 2,
            "container": "main", "payloads/{s}": DIGEST,
        }  # fmt: skip

    async def run(self, store: WorkerStore) -> None:
        registered = await store.register_worker(
            name=self._ids["w"], host="bench", pool=self._ids["pools/{p}"], incarnation=self._word,
            cpu_m=10_000, memory_mib=100_000, storage_mib=10_000, gpu=0, version="bench",
            offers={"executor": ["process"]}, same_host_proved_gone=True,
        )  # fmt: skip
        incarnation_id = registered.incarnation_id
        room = ClaimRequest(budget_cpu_m=10_000, budget_memory_mib=100_000, limit_jobs=3)
        claimed = sorted(await store.claim_jobs(incarnation_id, room), key=lambda c: c.batch_id)
        if len(claimed) != _RUNNING + 1:
            raise BenchFailed(f"{len(claimed)} of 3 jobs were claimed")
        starts = [
            StartReport(batch_id=c.batch_id, job_id=c.job_id, attempt=c.attempt, age_us=0)
            for c in claimed
        ]
        await store.start_attempts(incarnation_id, starts)
        blocked = claimed[_BLOCKED]
        key = AttemptKey(blocked.batch_id, blocked.job_id, blocked.attempt)
        await store.ask_block(
            incarnation_id, key, Ask("quota", "tcp", {"host": "a.example", "port": "1"})
        )
        reports = [_end(claimed[_DONE], None), _end(blocked, EXIT_BLOCKED)]
        await store.complete_attempts(incarnation_id, reports)

    async def change(self) -> None:
        """Make what only comes of other things: a schedule, an operation and a delivery."""
        schedule = {"cron": "0 2 * * *", "document": {"jobs": [{}]}}
        made = await self._ask("POST", "/v1/schedules", schedule)
        (condition,) = (await self._ask("GET", "/v1/conditions"))["items"]
        gone = (await self._ask("POST", "/v1/batches", {"jobs": [{}]}))["id"]
        operation = await self._ask("DELETE", f"/v1/batches/{gone}")
        path = f"/v1/batches/{self._ids['done']}/callbacks"
        while not (found := (await self._ask("GET", path))["items"]):  # noqa: ASYNC110 (another process)
            await asyncio.sleep(LOOK_S)
        self._ids |= {
            "schedules/{s}": made["schedule_id"], "c": condition["condition_id"],
            "o": operation["id"], "d": found[0]["delivery_id"],
        }  # fmt: skip

    async def _ask(
        self, method: str, path: str, document: object = None, *, token: str | None = None,
        content: bytes | None = None,
    ) -> Any:  # noqa: ANN401 (a document)  # fmt: skip
        headers = {"authorization": f"Bearer {token or self._tenant.token}"}
        answer = await self._http.request(
            method, path, json=document, content=content, headers=headers
        )
        _check(answer)
        return answer.json() if answer.content else None


def _check(answer: httpx.Response) -> None:
    if answer.is_error:
        asked = f"{answer.request.method} {answer.request.url.path}"
        raise BenchFailed(f"{asked} was answered {answer.status_code}", detail=answer.text)


def _end(claimed: Claimed, exit_code: int | None) -> EndReport:
    return EndReport(
        batch_id=claimed.batch_id, job_id=claimed.job_id, attempt=claimed.attempt, start_age_us=0,
        end_age_us=0, reason=None if exit_code is None else Reason.EXIT, exit_code=exit_code or 0,
        signal=None, cpu_ms=1, memory_peak_bytes=1, stdout_bytes=0, stderr_bytes=0,
        truncated=False, location=None, message="",
    )  # fmt: skip
