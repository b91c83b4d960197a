"""Workers outside, through a real api: the calls of their port, and what their tokens forbid."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import asyncpg
import httpx
import msgspec
import pytest

from api.live import LiveApi, leading, make_user
from builders import end_report, key_of, request, start_report
from cases import cases
from weft.api.http.sse import KEEP_ALIVE_S
from weft.core.bounds import LISTED_MAX
from weft.core.ends.conditions import Ask
from weft.core.errors import (
    ImpossibleCapacity,
    LinkFrameRefused,
    LinkRefused,
    Unavailable,
    WeftError,
)
from weft.core.notes import Note
from weft.core.states import AttemptKey, Reason
from weft.plugins.log_stores.files.store import FileLogStore
from weft.ports.left_files import LeftFile
from weft.ports.log_store import LogDirectory
from weft.ports.store import FileWanted, KeptFile, OfferedStore, ProgressReport, WorkerStore
from weft.ports.worker_link import FRAME_VERSION, Frame
from weft.settings import InvalidSetting, Settings
from weft_link.seal import LinkKey
from weft_link.serving.notices import told_of
from weft_link.worker.calls import LinkCaller, LinkFinder
from weft_link.worker.shipping import Shipper
from weft_link.worker.store import LinkedWorkerStore

TRANSPORTS = """
[[transports]]
name = "rabbit"
kind = "rabbitmq"
address = "amqp://127.0.0.1:1"
tenants = ["local"]
"""


class Outside:
    """Makes tokens, jobs and workers that reach the api by the link only."""

    def __init__(self, api: LiveApi, http: httpx.AsyncClient, tmp_path: Path) -> None:
        self.api, self.http, self.path = api, http, tmp_path
        self.token_id = 0
        self.key = LinkKey()
        self._callers: list[LinkCaller] = []

    async def submit(self, n_jobs: int, **fields: Any) -> int:  # noqa: ANN401 (as the document)
        answer = await self.http.post(
            "/v1/batches", json={"jobs": [{"command": ["/bin/true"], **fields}] * n_jobs}
        )
        assert answer.status_code == 201, answer.text
        return int(answer.json()["batch_id"])

    async def token(self, **terms: Any) -> Path:  # noqa: ANN401 (as the document)
        answer = await self.http.post(
            "/v1/tokens", json={"name": "out", "scopes": ["work"], "pool": "default", **terms}
        )
        assert answer.status_code == 201, answer.text
        self.token_id = answer.json()["token_id"]
        file = self.path / f"token-{self.token_id}"
        file.touch(0o600)
        file.write_text(answer.json()["token"])
        return file

    async def send(self, token: str, frame: object) -> httpx.Response:
        """Send a frame, or its bytes."""
        body = frame if isinstance(frame, bytes) else msgspec.msgpack.encode(frame)
        bearer = {"authorization": f"Bearer {token}"}
        return await self.http.post("/v1/worker-link", content=body, headers=bearer)

    def caller(self, token: Path) -> LinkCaller:
        self._callers.append(LinkCaller(LinkFinder(self.api.url, token)))
        return self._callers[-1]

    def close(self) -> None:
        for caller in self._callers:
            caller.close()

    def shipper(self, caller: LinkCaller) -> Shipper:
        shipper = Shipper(caller)
        shipper.root = self.path / "worker"
        return shipper

    def store(self, caller: LinkCaller) -> WorkerStore:
        return cast("WorkerStore", LinkedWorkerStore(caller, self.shipper(caller), self.key))


def facts(**more: Any) -> dict[str, Any]:  # noqa: ANN401 (as register_worker)
    return {
        "name": "node1",
        "host": "far",
        "pool": "default",
        "incarnation": "first",
        "cpu_m": 8000,
        "memory_mib": 8192,
        "storage_mib": 10_000,
        "gpu": 0,
        "version": "test",
        "offers": {"executor": ["process"]},
        "same_host_proved_gone": False,
        "log_place": "here",
        "log_directory": "/far/logs",
        **more,
    }


@pytest.fixture
async def outside(database: dict[str, str], tmp_path: Path) -> AsyncIterator[Outside]:
    await make_user(database["admin"])
    (file := tmp_path / "transports.toml").write_text(TRANSPORTS)
    api = LiveApi(database["weft_api"], Settings(home=tmp_path, transports_file=file))
    api.link_dsn = database["weft_worker"]
    async with api, api.client() as http:
        yield (outside := Outside(api, http, tmp_path))
        outside.close()


async def test_calls_about_attempts_say_by_the_link_what_the_store_says(outside: Outside) -> None:
    batch_id = await outside.submit(4)
    store = outside.store(outside.caller(await outside.token()))
    worker = (await store.register_worker(**facts())).incarnation_id
    (one,) = await store.claim_jobs(worker, request(1))
    asked = dataclasses.replace(request(call=2), passes=(batch_id, one.job_id))
    (other, third, fourth), fills = await store.claim_reserved(worker, asked)
    again = await store.register_worker(**facts())
    held = [key_of(claimed) for claimed in (one, other, third, fourth)]
    key, stale = AttemptKey(*held[0]), AttemptKey(batch_id, one.job_id, 2)
    ask = Ask("custom", "tcp", {"host": "h", "port": "1"})
    assert (fills, again.incarnation_id, len(again.live)) == (True, worker, 4)
    assert [await store.ask_block(worker, of, ask) for of in (stale, key, key)] == [0, 1, 1]
    assert list(await store.find_stores(worker, key, ["none", "nor"])) == [None, None]
    assert list(await store.find_stores(worker, stale, ["none"])) == []
    assert await store.start_attempts(worker, [start_report(one)]) == ["ok"]
    await store.record_progress(worker, [ProgressReport(*held[0], 40.5, "so far")])
    batch = (await outside.http.get(f"/v1/batches/{batch_id}")).json()
    assert [(spoke["job_id"], spoke["text"]) for spoke in batch["progress"]] == [(1, "so far")]
    assert await store.record_note(worker, key, Note("a", "text", b"x"))
    returned = end_report(other, Reason.PREEMPTED, start_age_us=None)
    ends = [end_report(one, Reason.BLOCKED), returned, end_report(fourth)]
    verdicts, (back,) = await store.complete_and_claim(worker, ends, request(1, call=3))
    assert (list(verdicts), key_of(back)) == (["ok"] * 3, (*held[1][:2], 2))
    assert not await store.ask_block(worker, key, ask)
    assert sorted(await store.list_to_stop(worker, held)) == sorted([*held[:2], held[3]])
    jobs = [held[3][:2], held[2][:2], (1 << 40, 1)]
    assert list(await store.list_ended_jobs(jobs)) == [jobs[0], jobs[2]]
    await store.acknowledge_commands(worker, [(1 << 40, AttemptKey(*held[2]), "")])
    commands, _ = await store.list_commands(worker, [held[2]])
    assert [*commands, *await store.list_removed([batch_id, 1 << 40])] == []
    assert await store.home_tenant()


async def test_files_of_a_job_are_found_when_it_has_ended(outside: Outside) -> None:
    batch_id = await outside.submit(2)
    store = outside.store(caller := outside.caller(await outside.token()))
    worker = (await store.register_worker(**facts())).incarnation_id
    first, second = sorted(await store.claim_jobs(worker, request()), key=key_of)
    key, reader = AttemptKey(*key_of(first)), AttemptKey(*key_of(second))
    kept = KeptFile("out/a\nb", 3, sha256(b"abc").digest())
    wanted = [FileWanted(None, 1, None, kept.path), FileWanted(batch_id, 1, None, "other")]
    with pytest.raises(LinkFrameRefused) as refused:
        await store.record_files(worker, key, [kept], staging_ms=1, storing_ms=2)
    assert "was not brought here" in (refused.value.detail or "")
    file = LeftFile(3, kept.digest)
    assert await caller.call("write_file", worker, key, 0, b"abc", file) == 3
    assert await store.record_files(worker, key, [kept], staging_ms=1, storing_ms=2)
    before = await store.find_files(worker, reader, wanted)
    await store.complete_attempts(worker, [end_report(first)])
    found = [*before, *await store.find_files(worker, reader, wanted)]
    assert [one and one.digest for one in found] == [None, None, kept.digest, None]
    for of, live in ((key, False), (reader, True)):
        assert await store.record_products(worker, of, [{"type": "F"}], inputs=None) == live
    assert not await store.record_files(worker, key, [kept], staging_ms=1, storing_ms=2)


async def test_worker_registers_as_its_token_says_only(outside: Outside) -> None:
    caller = outside.caller(await outside.token(workers="node*"))
    store = outside.store(caller)
    for wrong in ({"pool": "other"}, {"name": "mine"}):
        with pytest.raises(LinkRefused):
            await store.register_worker(**facts(**wrong))
    assert (await store.register_worker(**facts())).incarnation_id


async def test_token_of_a_person_is_none_of_a_worker(outside: Outside) -> None:
    mine = outside.path / "mine"
    mine.touch(0o600)
    mine.write_text("token-of-a-test")
    with pytest.raises(LinkRefused):
        await outside.caller(mine).call("hello")


async def test_token_of_a_worker_does_nothing_else(outside: Outside) -> None:
    token = (await outside.token()).read_text()
    headers = {"authorization": f"Bearer {token}"}
    for path in ("/v1/batches", "/v1/workers", "/metrics"):
        assert (await outside.http.get(path, headers=headers)).status_code == 403
    made = await outside.http.post(
        "/v1/tokens",
        headers=headers,
        json={"name": "more", "scopes": ["work"], "pool": "default"},
    )
    assert made.status_code == 403


@cases(
    "terms",
    [
        {"scopes": ["work"]},
        {"pool": "default"},
        {"workers": "node*"},
        {"pool": "default", "scopes": ["work", "read"]},
        {"pool": "default", "scopes": ["work"], "once": True},
        {"pool": "default", "scopes": ["work"], "once": True, "valid_s": 90_000},
    ],
)
async def test_token_for_work_names_a_pool_and_is_for_nothing_else(
    outside: Outside, terms: dict[str, Any]
) -> None:
    made = await outside.http.post("/v1/tokens", json={"name": "out", **terms})
    assert made.status_code == 400, made.text


async def test_revoked_token_is_refused(outside: Outside) -> None:
    caller = outside.caller(await outside.token())
    await caller.call("hello")
    await outside.http.request("DELETE", f"/v1/tokens/{outside.token_id}", json={})

    async def ask_again_and_again() -> None:  # the api hears of it from the database
        while True:
            await caller.call("hello")

    with pytest.raises(WeftError) as raised:
        await asyncio.wait_for(ask_again_and_again(), timeout=10)
    assert raised.value.status == 401


async def test_incarnation_belongs_to_its_token(outside: Outside) -> None:
    await outside.submit(1)
    first = outside.store(outside.caller(await outside.token()))
    registered = await first.register_worker(**facts())
    (one,) = await first.claim_jobs(registered.incarnation_id, request())
    other = outside.caller(await outside.token())
    other.incarnation_id = registered.incarnation_id
    with pytest.raises(LinkRefused):
        await other.call("complete_attempts", registered.incarnation_id, [end_report(one)])
    with pytest.raises(WeftError) as raised:
        await outside.store(other).register_worker(**facts())
    assert raised.value.code == "WORKER.INCARNATION_ENDED"
    answer = await first.heartbeat(registered.incarnation_id, [key_of(one)], draining=False)
    assert (answer.alive, list(answer.to_stop)) == (True, [])


async def test_frame_and_call_name_the_same_incarnation(outside: Outside) -> None:
    caller = outside.caller(await outside.token())
    registered = await outside.store(caller).register_worker(**facts())
    caller.incarnation_id = registered.incarnation_id
    with pytest.raises(LinkRefused):
        await caller.call("leave", registered.incarnation_id + 1)


async def test_link_tells_of_live_attempts_only(outside: Outside) -> None:
    theirs = await outside.submit(2)
    store = outside.store(outside.caller(await outside.token()))
    worker = (await store.register_worker(**facts())).incarnation_id
    (one,) = await store.claim_jobs(worker, request(1))
    unclaimed = ({1, 2} - {one.job_id}).pop()
    assert await store.get_chunks([theirs], [one.chunk_first])
    assert len(await store.list_job_users([(theirs, 1), (theirs, 2)])) == 1
    assert not await store.list_job_users([(theirs, unclaimed)])
    await store.complete_attempts(worker, [end_report(one)])
    assert not await store.get_chunks([theirs], [one.chunk_first])
    assert not await store.list_job_users([(theirs, one.job_id)])


async def test_offers_reach_a_worker_outside_whose_pool_consumes_the_queue(
    database: dict[str, str], outside: Outside
) -> None:
    """Of others it does not even hear whether there are any."""
    await outside.http.put("/v1/pools", json={"pools": [{"name": "other"}]})
    queues = [
        {"name": name, "priority": n, "pools": [pool], "transport": "rabbit"}
        for name, n, pool in (("ours", 9, "default"), ("theirs", 8, "other"))
    ]
    saved = await outside.http.put("/v1/queues", json={"queues": queues})
    assert saved.status_code == 200, saved.text
    caller = outside.caller(await outside.token())
    linked = outside.store(caller)
    store = cast("OfferedStore", linked)
    terms = {"executor": ["process"], "consumes": ["rabbit"]}
    worker = (await linked.register_worker(**facts(offers=terms))).incarnation_id
    batches = [await outside.submit(2, queue=name) for name in ("ours", "theirs")]
    async with leading(database["weft_driver"]) as (driver, epoch):
        await driver.offer_jobs(epoch, ["rabbit"], limit_jobs=10, stocks={})
        due = await driver.take_offers(epoch, ["rabbit"], again_s=5, limit_offers=10)
    offers = [(one.batch_id, one.job_id, one.offer_id) for one in due]
    made_up = (batches[1], 1, offers[-1][2] + 1)
    answers = await store.claim_offered(worker, "rabbit", "local", "ours", offers, request())
    (first, second) = [one.claimed for one in answers if one.claimed is not None]
    ends = [end_report(one) for one in (first, second)]
    others = await store.claim_offered(
        worker, "rabbit", "local", "theirs", [made_up], request(call=2)
    )

    assert await store.list_consumed(worker, ["rabbit"]) == [("rabbit", "local", "ours")]
    assert {one.batch_id for one in (first, second)} == {batches[0]}
    assert await linked.get_chunks([batches[0]], [first.chunk_first])
    assert list(await linked.complete_attempts(worker, ends)) == ["ok", "ok"]
    assert [one.answer for one in others] == ["not_now"]


async def test_questions_are_bounded(outside: Outside) -> None:
    caller = outside.caller(await outside.token())
    await outside.store(caller).register_worker(**facts())
    with pytest.raises(LinkFrameRefused):
        await caller.call("list_removed", list(range(1, LISTED_MAX + 2)))
    many = [(1, job, 1) for job in range(1, 50_002)]
    for call in (("heartbeat", caller.incarnation_id, many), ("list_time_limits", many)):
        more = {"draining": False} if call[0] == "heartbeat" else {}
        with pytest.raises(LinkFrameRefused, match="not one that this server reads"):
            await caller.call(*call, **more)


async def test_a_frame_of_a_gigabyte_is_refused_before_it_has_come(outside: Outside) -> None:
    token = (await outside.token()).read_text()
    url = httpx.URL(outside.api.url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    head = f"POST /v1/worker-link HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    writer.write(f"{head}Content-Length: {1 << 30}\r\n\r\n".encode() + b"x")
    try:
        async with asyncio.timeout(30):
            assert b" 413 " in await reader.readline()
    finally:
        writer.close()


@pytest.mark.parametrize(
    "forged", [{"cpu_m": 1_000_000_000}, {"memory_mib": -1}, {"gpu": -1}, {"cpu_m": 0}]
)
async def test_forged_capacity_is_refused(outside: Outside, forged: dict[str, int]) -> None:
    store = outside.store(outside.caller(await outside.token()))
    with pytest.raises(ImpossibleCapacity):
        await store.register_worker(**facts(**forged))
    assert (await store.register_worker(**facts())).incarnation_id


@cases(
    "frame",
    [
        b"",
        b"\xc1",
        msgspec.msgpack.encode([1, 2]),
        msgspec.msgpack.encode(Frame(FRAME_VERSION + 1, 0, "hello", msgspec.Raw(b"\x80"))),
        msgspec.msgpack.encode(Frame(FRAME_VERSION, 0, "database_id", msgspec.Raw(b"\x80"))),
        msgspec.msgpack.encode(Frame(FRAME_VERSION, 0, "claim_jobs", msgspec.Raw(b"\x80"))),
    ],
)
async def test_what_is_no_frame_is_refused(outside: Outside, frame: bytes) -> None:
    token = (await outside.token()).read_text()
    answer = await outside.send(token, frame)
    assert (answer.status_code, answer.json()["code"]) == (400, "WORKER.LINK_FRAME_REFUSED")


async def test_place_of_its_output_is_known_before_anything_is_written(outside: Outside) -> None:
    """So who follows a worker's first output does not wait elsewhere for it."""
    store = outside.store(outside.caller(await outside.token()))
    await store.register_worker(**facts())
    (place,) = [file.read_text() for file in outside.path.glob("logs/spool-*/place")]
    directory = LogDirectory(place, "far", "/far/logs")

    assert FileLogStore(outside.path / "logs").can_read(directory)


async def test_notices_end_at_once_when_the_token_is_revoked(outside: Outside) -> None:
    other = outside.caller(await outside.token())
    store = outside.store(other)
    waiting = await store.register_worker(**facts(name="node2", incarnation="second"))
    caller = outside.caller(await outside.token())
    await outside.store(caller).register_worker(**facts())
    heard, others = caller.listen("work").__aiter__(), other.listen("work").__aiter__()
    assert await anext(heard) == await anext(others) == ("", "")
    gone = asyncio.ensure_future(anext(heard))
    await outside.http.request("DELETE", f"/v1/tokens/{outside.token_id}", json={})
    with pytest.raises(Unavailable):
        await asyncio.wait_for(gone, KEEP_ALIVE_S * 0.8)
    staying = asyncio.ensure_future(anext(others))
    assert not await store.wait_for_work(waiting.incarnation_id)
    await outside.submit(1)
    assert (await staying)[0] == "work"
    await cast("Any", others).aclose()


async def test_one_connection_listens_for_all_workers(
    outside: Outside, admin: asyncpg.Connection
) -> None:
    listening = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND usename = 'weft_worker' AND query LIKE 'LISTEN%'"
    )
    streams = []
    for name in ("node1", "node2", "node3"):
        caller = outside.caller(await outside.token())
        await outside.store(caller).register_worker(**facts(name=name, incarnation=name))
        streams.append(caller.listen("cancel").__aiter__())
        assert await anext(streams[-1]) == ("", "")
    n_listening = await admin.fetchval(listening)
    await cast("Any", streams.pop()).aclose()
    batch_id = await outside.submit(1)
    await outside.http.post(f"/v1/batches/{batch_id}/cancel", json={})
    told = [await anext(one) for one in streams]
    for one in streams:
        await cast("Any", one).aclose()
    async with asyncio.timeout(30):
        while await admin.fetchval(listening):
            pass

    assert n_listening == 1
    assert told == [("cancel", "")] * 2


@pytest.mark.parametrize(
    ("origin", "scheme", "status"),
    [
        ("203.0.113.9", "http", 403),
        ("203.0.113.9", "https", 200),
        ("::ffff:203.0.113.9", "http", 403),
        ("127.0.0.1", "http", 200),
    ],
)
async def test_api_takes_no_frames_over_a_network_without_tls(
    database: dict[str, str], tmp_path: Path, origin: str, scheme: str, status: int
) -> None:
    await make_user(database["admin"])
    api = LiveApi(database["weft_api"], Settings(home=tmp_path, trusted_proxies="127.0.0.1"))
    api.link_dsn = database["weft_worker"]
    forwarded = {"x-forwarded-for": origin, "x-forwarded-proto": scheme}
    async with api, api.client(**forwarded) as http, api.client() as here:
        token = (await Outside(api, here, tmp_path).token()).read_text()
        frame = msgspec.msgpack.encode(Frame(FRAME_VERSION, 0, "hello", msgspec.Raw(b"\x80")))
        answer = await Outside(api, http, tmp_path).send(token, frame)
        join = await http.post("/v1/worker-link/join", json={"invitation": "x", "worker": "y"})
        bearer = {"authorization": f"Bearer {token}"}
        notices = await http.get("/v1/worker-link/notices?incarnation=1", headers=bearer)
        command = await http.post("/v1/worker-link/exec?incarnation=1", headers=bearer)
    assert answer.status_code == status, answer.text
    for refused in (notices, join, command):
        assert ("by HTTPS only" in refused.text) == (status == 403)


def test_notices_of_others_are_not_told() -> None:
    assert told_of(("work", "3"), 7, 3) == told_of(("work", "3:6,7"), 7, 3) == ("work", "3")
    assert told_of(("work", "4"), 7, 3) is told_of(("work", "3:6,8"), 7, 3) is None
    assert told_of(("command", "8"), 7, 3) is told_of(("worker", "8"), 7, 3) is None
    assert told_of(("cancel", "12"), 7, 3) == ("cancel", "")


def test_token_is_not_sent_in_the_clear(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text("weft_x")
    with pytest.raises(InvalidSetting, match="without TLS"):
        LinkFinder("http://weft.example.org", token).locate()
    assert LinkFinder("https://weft.example.org", token).locate().token == "weft_x"
    token.chmod(0o644)
    with pytest.raises(InvalidSetting, match="others may read"):
        LinkFinder("https://weft.example.org", token).locate()
    with pytest.raises(InvalidSetting, match="needs a token"):
        LinkFinder("https://weft.example.org", None).locate()
