"""A tenant that has one of everything, with a word of its own in every text that it may choose."""

import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from api.live import LiveApi, LiveWorker, fold, leading, open_worker
from api.path_values import PathValues
from builders import end_report
from weft.core.ends.conditions import Ask
from weft.core.states import AttemptKey, Reason
from weft_aloe.dumps import read_dump

DIGEST = "ab" * 32
NUMBERED = (
    "batch",
    "billing_project",
    "callback_delivery",
    "condition",
    "operation",
    "pool",
    "queue",
    "schedule",
    "tenant",
    "tenant_user",
    "token",
)
_OWN_POOL = """
    INSERT INTO weft.pool (name, serves_tenant_id) SELECT $2, tenant_id FROM weft.tenant
    WHERE name = $1 RETURNING serves_tenant_id
"""


_MACHINE = """
    WITH pool AS (SELECT pool_id FROM weft.pool WHERE name = $1 || '-pool'),
    machine AS (
        INSERT INTO weft.machine (machine_id, pool_id, name, provider, flavour, region, cpu_m,
            price_per_hour, pool_max, state, reason, created_at, changed_at)
        OVERRIDING SYSTEM VALUE
        SELECT $2, pool_id, $1 || '-machine', 'none', $1, $1, 1, 1, 1, 'active', $1, now(), now()
        FROM pool),
    cost AS (
        INSERT INTO weft.pool_cost SELECT pool_id, current_date, $1, 1, 1, 1, 1 FROM pool)
    INSERT INTO weft.pool_change OVERRIDING SYSTEM VALUE
    SELECT pool_id, $2, now(), 'create', $1 || '-machine', $1 FROM pool
"""

_OUTSIDE = """
    WITH reader AS (
        INSERT INTO weft.event_reader (reader, tenant_id, xid, event_id)
        SELECT $1 || '-reader', tenant_id, '1', 1 FROM weft.tenant WHERE name = $1 || '-t'),
    dead AS (
        INSERT INTO weft.dead_message (tenant_id, transport, source, queue, reason, error, kept_at,
            body, n_bytes)
        SELECT tenant_id, $1 || '-transport', $1, $1, 'refused', $1, now(), convert_to($1, 'UTF8'),
            octet_length($1)
        FROM weft.tenant WHERE name = $1 || '-t'),
    note AS (
        INSERT INTO weft.attempt_note (batch_id, job_id, attempt, phase, tenant_id, at, message)
        SELECT batch_id, job_id, attempt, 1, tenant_id, now(), $1 FROM weft.attempt
        JOIN weft.tenant USING (tenant_id) WHERE tenant.name = $1 || '-t' LIMIT 1),
    own AS (
        INSERT INTO weft.job_note
        SELECT batch_id, job_id, $1, tenant_id, attempt, 'text', now(), convert_to($1, 'UTF8')
        FROM weft.attempt JOIN weft.tenant USING (tenant_id)
        WHERE tenant.name = $1 || '-t' LIMIT 1)
    INSERT INTO weft.source_item (source_id, n, tenant_id, key, fields, found_at, state, reason)
    SELECT source_id, 1, tenant_id, $1 || '-item', jsonb_build_object('word', $1), now(),
        'cancelled', $1
    FROM weft.source WHERE name = $1 || '-source'
"""
"""What sources and engines said, and how far events were told to somebody outside."""

_ALLOWED = """
    UPDATE weft.tenant SET allowed = jsonb_build_object('qos', jsonb_build_array($1::text))
    WHERE name = $1 || '-t'
"""

_DEAD = "SELECT dead_id FROM weft.dead_message WHERE source = $1"

_LINE = """
[source.{word}-source]
kind = "directory"
path = "/{word}"
job = "{word}-job"

[job.{word}-job]
command = ["echo", "{word}"]

[lifecycle.{word}-life]
statuses = ["{word}_one", "{word}_two", "{word}_end"]
first = ["{word}_one"]

[lifecycle.{word}-life.next]
{word}_one = ["{word}_two", "{word}_end"]
{word}_two = ["{word}_one", "{word}_end"]

[lifecycle.{word}-life.core]
{word}_one = ["pending", "ready"]
{word}_end = ["success", "failed", "error", "cancelled"]

[sink.{word}-sink]
kind = "http"
url = "https://hook.example/{word}"
message = '"{word}"'

[[lifecycle.{word}-life.exit]]
codes = "3"
subtype = "{word}"
"""


@dataclass(frozen=True)
class FullTenant:
    """What there is, for the parameters of routes."""

    tenant_id: int
    word: str
    header: Mapping[str, str]
    batch: int
    """It has a job that runs, one that has failed, groups, an open update and a payload."""
    ids: PathValues


async def move_sequences(admin: asyncpg.Connection, first: int) -> None:
    """Let numbers of what belongs to one tenant begin here, so that they are found in texts."""
    names = await admin.fetch(
        "SELECT sequencename FROM pg_sequences WHERE schemaname = 'weft' AND sequencename ~ $1",
        f"^({'|'.join(NUMBERED)})_[a-z]+_id_seq$",
    )
    for (name,) in names:
        await admin.execute(f"SELECT setval('weft.{name}', $1)", first)


class Filler:
    """Makes one of everything for one tenant."""

    def __init__(self, api: LiveApi, dsns: Mapping[str, str], word: str) -> None:
        self._api = api
        self._dsns = dsns
        self.word = word
        self.header: dict[str, str] = {}
        self.ids = PathValues({"a": 1, "j": 1, "g": 1, "u": 2, "n": 1, "container": "main"})
        self.ids["payloads/{s}"] = DIGEST

    async def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Any:  # noqa: ANN401
        """Send a request of the tenant's administrator; return the document."""
        headers = self.header | more.pop("headers", {})
        async with self._api.client() as http:
            answer = await http.request(method, path, json=body, headers=headers, **more)
        assert answer.status_code < 300, (method, path, answer.text)
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        return answer.json() if is_json else answer

    async def make_people(self) -> None:
        word = self.word
        made = await self.ask("POST", "/v1/tenants", {"name": f"{word}-t", "admin": f"{word}-ann"})
        site, self.header = self.header, {"authorization": f"Bearer {made['token']}"}
        assert site == {}
        await self.ask("POST", "/v1/users", {"name": f"{word}-bob"})
        await self.ask("PATCH", f"/v1/users/{word}-bob/quota", {"jobs": 1000})
        await self.ask("PATCH", f"/v1/users/{word}-bob/limit", {"amount_max": 1000})
        project = f"{word}-project"
        await self.ask("POST", "/v1/billing-projects", {"name": project, "cost_max": 5})
        await self.ask("PUT", f"/v1/billing-projects/{project}/members/{word}-bob", {})
        await self.ask("POST", "/v1/billing-projects", {"name": f"{word}-closed"})
        await self.ask("PATCH", f"/v1/billing-projects/{word}-closed", {"closed": True})
        token = await self.ask("POST", "/v1/tokens", {"name": f"{word}-token"})
        await self.ask("PUT", f"/v1/secrets/{word}-secret", {"value": f"{word}-value"})
        store = {"url": f"s3://{word}/x", "access": "read", "secret": f"{word}-secret"}
        await self.ask("PUT", f"/v1/stores/{word}-store", store)
        await self.ask("PUT", f"/v1/saved-queries/{word}-query", {"query": f"name = {word}"})
        self.ids |= {
            "user": f"{word}-bob",
            "p": project,
            "billing-projects/{p}": project,
            "costs/{p}": project,
            "t": token["token_id"],
            "secret": f"{word}-secret",
            "store": f"{word}-store",
            "saved": f"{word}-query",
            "tenant": f"{word}-t",
        }

    async def open_session(self) -> None:
        link = await self.ask("POST", "/v1/login-links", {})
        origin = {"origin": self._api.url, "user-agent": f"{self.word}-browser"}
        code = link["url"].partition("=")[2]
        async with self._api.client() as http:
            answer = await http.post("/login", data={"code": code}, headers=origin)
        assert answer.status_code == 303, answer.text
        (session,) = (await self.ask("GET", "/v1/sessions"))["items"]
        self.ids["session"] = session["session_id"]
        await self.ask("POST", "/v1/login-links", {})  # one that is not used yet

    async def make_machines(self) -> None:
        """Make a pool of this tenant alone, and a queue that uses it."""
        word = self.word
        queues = [
            {"name": f"{word}-queue", "priority": 2, "guard": "1 / 0 == 1"},
            {"name": f"{word}-own", "priority": 1, "pools": [f"{word}-pool"]},
        ]
        await self.ask("PUT", "/v1/queues", {"queues": queues})
        self.ids |= {"pools/{p}": f"{word}-pool", "q": f"{word}-queue", "w": f"{word}-worker"}

    async def make_app(self) -> None:
        """Make an application."""
        name = f"{self.word}-app"
        described = json.dumps({"name": name, "version": "1", "templatePath": "app.json"}).encode()
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as tar:
            entry = tarfile.TarInfo("app.json")
            entry.size = len(described)
            tar.addfile(entry, io.BytesIO(described))
        packed = out.getvalue()
        digest = sha256(packed).hexdigest()
        part = f"/v1/app-parts/{digest}/1?bytes={len(packed)}"
        octets = {"content-type": "application/octet-stream"}
        await self.ask("PUT", part, content=packed, headers=octets)
        document = {"digest": digest, "n_bytes": len(packed)}
        await self.ask("PUT", f"/v1/apps/{name}-1", document)
        self.ids |= {"app": f"{name}-1", "app-parts/{s}": digest, "app_bytes": len(packed)}

    async def make_line(self) -> None:
        """Make a production line, and a job that has a status of its lifecycle."""
        word = self.word
        content = _LINE.format(word=word)
        toml = {"content-type": "application/toml"}
        await self.ask("PUT", f"/v1/setups/{word}-line", content=content, headers=toml)
        await self.ask("PUT", f"/v1/parameters/{word}_first", {"value": word})
        jobs = [{"name": f"{word}-item", "not_before": "2100-01-01T00:00:00Z"}]
        document = {"name": f"{word}-items", "lifecycle": f"{word}-life", "jobs": jobs}
        batch = (await self.ask("POST", "/v1/batches", document))["id"]
        change = {"status": f"{word}_two", "message": word}
        await self.ask("POST", f"/v1/batches/{batch}/jobs/1/status", change)
        self.ids |= {
            "setup": f"{word}-line",
            "parameter": f"{word}_first",
            "lifecycle": f"{word}-life",
            "source": f"{word}-source",
            "sink": f"{word}-sink",
        }

    async def submit(self) -> int:
        word, path = self.word, f"/{self.word}-g"
        job = {"name": f"{word}-job", "command": ["echo", word], "env": {"A": word}, "group": path}
        document = {
            "name": f"{word}-batch",
            "attributes": {"a": word},
            "callback": "https://hook.example/",
            "billing_project": f"{word}-project",
            "cancel_after_n_failures": 100,
            "groups": [{"path": path, "callback": f"https://hook.example/{word}"}],
            "jobs": [
                *(job | {"attributes": {"k": word}, "max_attempts": 1} for _ in range(8)),
                {"parents": [1], "name": f"{word}-child"},
                {"count": 3, "command": ["echo", word], "name": f"{word}-array"},
                {
                    "not_before": "2100-01-01T00:00:00Z",
                    "deadline": "2100-01-01T01:00:00Z",
                    "concurrency_key": {"key": f"{word}-key", "n": 2},
                    "timeout_s": 60,
                },
            ],
        }
        done = {
            "sink": f"{word}-sink",
            "callback": "https://hook.example/",
            "jobs": [job | {"group": "/"}],
        }
        self.ids["done"] = int((await self.ask("POST", "/v1/batches", done))["id"])
        batch = int((await self.ask("POST", "/v1/batches", document))["id"])
        self.ids["b"] = batch
        return batch

    async def send_more(self, batch: int) -> None:
        """Open an update, and add a payload, a set and its members."""
        word, path = self.word, f"/v1/batches/{batch}"
        await self.ask("POST", f"{path}/updates", {"n_jobs": 2, "n_groups": 1})
        group = {"first": 1, "groups": [{"name": f"{word}-staged"}]}
        await self.ask("POST", f"{path}/updates/2/groups", group)
        jobs = {"first": 1, "jobs": [{"name": f"{word}-staged", "command": ["true"]}]}
        await self.ask("POST", f"{path}/updates/2/jobs", jobs)
        part = f"{path}/payloads/{DIGEST}/1?bytes={len(word)}"
        await self.ask("PUT", part, content=word.encode())
        await self.ask("POST", f"{path}/groups", {"name": f"{word}-set"})
        await self.ask("POST", f"{path}/groups/{word}-set/members", {"jobs": [2]})
        await self.ask("POST", f"{path}/groups?q=all", {"name": f"{word}-found"})
        grant = {"permission": "read"}
        for of in (path, f"{path}/jobs/1"):
            await self.ask("PUT", f"{of}/permissions/{word}-bob", grant)

    async def run(self, worker: LiveWorker, batch: int) -> None:
        """Let one job succeed, one fail, one be blocked, and one run."""
        claimed = [one for one in await worker.claim() if one.batch_id >= self.ids["done"]]
        claimed.sort(key=lambda one: (one.batch_id, one.job_id))
        done, running, good, bad, blocked, *_ = claimed
        await worker.start(claimed[:5])
        for one in claimed[:5]:
            worker.write(one, (1, f"{self.word} was here\n".encode()))
        path = f"/v1/batches/{batch}/jobs/{running.job_id}"
        await self.ask("POST", f"{path}/signal", {"signal": "USR1"})
        await self.ask("POST", f"{path}/message", {"text": f"{self.word}-message"})
        key = AttemptKey(blocked.batch_id, blocked.job_id, blocked.attempt)
        await worker.ask(key, Ask("quota", "tcp", {"host": f"{self.word}.example", "port": "1"}))
        named = AttemptKey(good.batch_id, good.job_id, good.attempt)
        product = {"word": f"{self.word}-product"}
        inputs = [{"from": f"file:///{self.word}"}]
        assert await worker.store.record_products(
            worker.incarnation_id, named, [product], inputs=inputs
        )
        reports = [
            end_report(done),
            end_report(good),
            end_report(bad, Reason.EXIT, exit_code=1, message=self.word),
            end_report(blocked, Reason.EXIT, exit_code=75),
        ]
        verdicts = await worker.store.complete_attempts(worker.incarnation_id, reports)
        assert set(verdicts) == {"ok"}
        self.ids["j"] = running.job_id
        sent = await self.ask("GET", f"/v1/sinks/{self.word}-sink/deliveries")
        self.ids["message"] = sent["items"][0]["delivery_id"]
        (made,) = (await self.ask("GET", "/v1/products"))["items"]
        self.ids["product"] = made["id"]
        self.ids["failed"] = bad.job_id

    async def look_after(self) -> None:
        """Do once what a driver does, and look for numbers that it has made."""
        await fold(self._dsns["weft_driver"])
        async with leading(self._dsns["weft_driver"]) as (store, epoch):
            for loop in ("seal_trail", "fold_failures"):
                await store.sweep(loop, epoch, limit_jobs=1000)
        (condition,) = (await self.ask("GET", "/v1/conditions"))["items"]
        self.ids["c"] = condition["condition_id"]

    async def change(self, batch: int) -> None:
        """Hold, acknowledge, retry, delete and the like."""
        word, path = self.word, f"/v1/batches/{batch}"
        schedule = {
            "name": f"{word}-schedule",
            "cron": "0 2 * * *",
            "document": {"name": f"{word}-run", "jobs": [{"command": ["echo", word]}]},
        }
        made = await self.ask("POST", "/v1/schedules", schedule)
        self.ids["schedules/{s}"] = made["schedule_id"]
        await self.ask("POST", f"/v1/schedules/{made['schedule_id']}/run-now", {})
        seen = {"note": f"{word}-note", "jobs": [self.ids["failed"]]}
        await self.ask("POST", f"{path}/failures/acknowledge", seen)
        await self.ask("PATCH", f"{path}/jobs/8", {"priority": 5})
        await self.ask("POST", f"{path}/jobs/8/hold", {})
        await self.ask("POST", f"{path}/jobs/7/cancel", {})
        other = (await self.ask("POST", "/v1/batches", {"name": f"{word}-2", "jobs": [{}]}))["id"]
        await self.ask("POST", f"/v1/batches/{other}/hold", {})
        await self.ask("POST", f"/v1/batches/{other}/resubmit", {})
        await self.ask("POST", f"/v1/batches/{other}/cancel", {})
        await self.ask("POST", f"{path}/retry", {})
        gone = await self.ask("DELETE", f"/v1/batches/{other}")
        self.ids["o"] = gone["id"]
        done = f"/v1/batches/{self.ids['done']}"
        await self.ask("POST", f"{done}/resubmit", {})
        (found,) = (await self.ask("GET", f"{done}/callbacks"))["items"]
        self.ids["d"] = found["delivery_id"]

    async def come_through_door(self) -> None:
        """Submit jobs as clients of JobWeaver and Agave; the api needs those doors."""
        steps = [{"action": "SLEEP", "durationMs": 10}]
        job = {"jobType": "SIMULATION", "payload": {"steps": steps}, "maxRetryCount": 0}
        trace = {"x-trace-id": f"{self.word}-trace"}
        made = await self.ask("POST", "/api/jobs", job, headers=trace)
        self.ids["job_id"] = UUID(made["jobId"])
        told = {"url": f"https://receiver.example/{self.word}", "event": "*"}
        job = {"name": self.word, "appId": self.ids["app"], "notifications": [told]}
        answer = await self.ask("POST", "/jobs/v2", job)
        self.ids |= {"aloe_id": answer["result"]["id"], "file_path": "x", "pairs": "name/x"}
        run = {"image": self.word, "command": ["echo", self.word], "stdout": "/data/out"}
        task = {"name": self.word, "executors": [run], "tags": {self.word: self.word}}
        self.ids["task_id"] = (await self.ask("POST", "/ga4gh/tes/v1/tasks", task))["id"]
        old = {
            "id": f"{self.word}-007",
            "name": self.word,
            "owner": f"{self.word}-ann",
            "appId": f"{self.word}-1.0",
            "status": "FAILED",
            "lastStatusMessage": self.word,
            "created": "2024-05-01T10:00:00Z",
            "ended": "2024-05-01T11:00:00Z",
        }
        jobs, _ = read_dump([json.dumps(old).encode()])
        await self.ask("POST", "/v1/imports", {"door": "aloe", "jobs": jobs})


async def fill(
    api: LiveApi,
    dsns: Mapping[str, str],
    admin: asyncpg.Connection,
    logs: Path,
    *,
    word: str,
    first: int,
) -> FullTenant:
    """Make a tenant with one of everything. `first`: where its numbers begin."""
    await move_sequences(admin, first)
    filler = Filler(api, dsns, word)
    await filler.make_people()
    tenant_id = await admin.fetchval(_OWN_POOL, f"{word}-t", f"{word}-pool")
    await filler.open_session()
    await filler.make_machines()
    await filler.make_line()
    await filler.make_app()
    batch = await filler.submit()
    await filler.send_more(batch)
    async with open_worker(dsns["weft_worker"], logs, name=f"shared-{first // 100_000}") as worker:
        await filler.run(worker, batch)
        await filler.come_through_door()
        await worker.store.register_worker(
            name=f"{word}-worker",
            host=f"{word}-host",
            pool=f"{word}-pool",
            incarnation=word,
            cpu_m=2000,
            memory_mib=4096,
            storage_mib=1000,
            gpu=0,
            version="test",
            offers={"executor": ["process"]},
            same_host_proved_gone=True,
        )
    await admin.execute(_MACHINE, word, first)
    await admin.execute(_OUTSIDE, word)
    await admin.execute(_ALLOWED, word)
    filler.ids["dead"] = await admin.fetchval(_DEAD, word)
    async with api.client() as site:
        aside = await site.post(f"/v1/workers/{word}-worker/cordon", json={"reason": word})
    assert aside.status_code == 200, aside.text
    await filler.look_after()
    await filler.change(batch)
    return FullTenant(tenant_id, word, filler.header, batch, filler.ids)
