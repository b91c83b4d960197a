"""The api on a real database behind a real server, and a worker whose jobs end as a test says."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import asyncpg
import httpx
import msgspec
from httpx import AsyncClient

from builders import end_report, key_of, request, run_long_enough, start_report
from contexts import connected
from kept_sessions import ENDS, kept_session
from store.site import led_by
from weft.api.app import create_app
from weft.api.http.doors import ApiDoor
from weft.core.ends.conditions import Ask
from weft.core.states import AttemptKey, Reason
from weft.plugins.log_stores.files.plugin import FileLogWriter
from weft.plugins.log_stores.files.spool import FileSpool
from weft.plugins.log_stores.files.store import FileLogStore
from weft.ports.store import Claimed, WorkerStore
from weft.run.api import Server, serving_config
from weft.run.files import kept_files, object_stores
from weft.run.home import Home
from weft.run.isolated.asking.evaluation import Evaluation
from weft.run.isolated.asking.lookups import LookUps
from weft.run.isolated.asking.messages import MessageMaking
from weft.run.isolated.asking.sources import SourceTrials
from weft.settings import Settings
from weft.store import Admin, DriverStore, open_api_store, open_driver_store, open_worker_store
from weft.wire.function import result_path
from weft.wire.log_format import encode_piece, own_path
from weft.wire.sealed import SecretKeys
from weft.wire.usage_format import UsageSample
from weft.worker.agent.specs import Signatures
from weft_link.served import spool_limits_of
from weft_link.serving import WorkerLink
from weft_link.serving.left_files import LinkedFiles
from weft_link.serving.linked_hand_over import LinkedHandOver

TOKEN = "token-of-a-test"
DEADLINE_S = 60.0
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of httpx that use none: else each reads the authorities of the whole world."""


_APART: dict[object, tuple[MessageMaking, Evaluation]] = {}


def apart(settings: Settings) -> tuple[MessageMaking, Evaluation]:
    """Return what asks processes, which take longer to start than most tests take: they serve all
    tests with these limits, and end after the last one.
    """
    limits = (
        settings.evaluation_all_s,
        settings.evaluation_one_s,
        settings.evaluation_memory_bytes,
        settings.evaluators_max,
        asyncio.get_running_loop(),
    )
    if limits not in _APART:
        made = _APART[limits] = MessageMaking(), Evaluation(settings)
        ENDS.extend(asked.close for asked in made)
    return _APART[limits]


Commands = Callable[..., Awaitable[tuple[int, str, str]]]
Dsns = dict[str, str]
"""Where a database is, by the login that asks."""


async def as_admin(dsns: Dsns, text: str, *values: object) -> Sequence[asyncpg.Record]:
    """Ask the database once, as somebody who may do all."""
    async with connected(dsns["admin"]) as connection:
        return [*await connection.fetch(text, *values)]


class LiveApi:
    """A server that can be stopped and started again on the same port."""

    def __init__(self, dsn: str, settings: Settings, doors: Sequence[ApiDoor] = ()) -> None:
        self.dsn = dsn
        self.settings = settings
        self._doors = doors
        self._stack = contextlib.AsyncExitStack()
        self.port = 0
        self.stop_s = 0.0
        self.secret_keys = [bytes(32)]
        self.link_dsn: str | None = None
        """Set before the start: where workers outside are served."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, **headers: str) -> AsyncClient:
        known = {"authorization": f"Bearer {TOKEN}", **headers}
        return AsyncClient(base_url=self.url, headers=known, timeout=DEADLINE_S, verify=NO_TLS)

    async def start(self) -> None:
        listener = socket.create_server(("127.0.0.1", self.port))
        # As the role does: else each reply in two writes waits 40 ms for the client.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = listener.getsockname()[1]
        self.store = await self._stack.enter_async_context(open_api_store(self.dsn))
        link = None
        if self.link_dsn is not None:
            linked = await self._stack.enter_async_context(open_worker_store(self.link_dsn))

            def keys() -> SecretKeys:
                return SecretKeys(self.secret_keys)

            handing_over = LinkedHandOver(keys, Signatures(linked, keys))
            files = LinkedFiles(self.settings.home / "files", self.settings.output_bytes_max, 0)
            self.spool = FileSpool(self.settings.home / "logs", spool_limits_of(self.settings))
            link = WorkerLink(lambda: linked, self.spool, 30.0, handing_over, files)
        logs = FileLogStore(self.settings.home / "logs")
        look_ups = LookUps(self.settings, lambda: SecretKeys(self.secret_keys))
        self._stack.push_async_callback(look_ups.close)
        messages, self.evaluation = apart(self.settings)
        self.app = app = create_app(
            self.store,
            self.store.notices,
            logs,
            self.settings,
            doors=self._doors,
            secret_keys=lambda: SecretKeys(self.secret_keys),
            link=link,
            files_=kept_files(Home(self.settings.home)),
            look_ups=look_ups,
            source_trials=SourceTrials(self.settings, lambda: SecretKeys(self.secret_keys)),
            objects=object_stores(self.settings, lambda: SecretKeys(self.secret_keys)),
            evaluation=self.evaluation,
            make_message=messages.make,
        )
        server = Server(serving_config(app))
        serving = asyncio.create_task(server.run_on(listener))
        await server.listening.wait()
        forgetting = asyncio.create_task(app.forget_changes())

        async def stop() -> None:
            begun = asyncio.get_running_loop().time()
            forgetting.cancel()
            app.close()
            server.stopping.set()
            await serving
            await app.finish()
            self.stop_s = asyncio.get_running_loop().time() - begun

        self._stack.push_async_callback(stop)

    async def stop(self) -> None:
        await self._stack.aclose()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


@contextlib.asynccontextmanager
async def logged_in(
    api: LiveApi, http: AsyncClient, headers: Mapping[str, str] | None = None
) -> AsyncIterator[AsyncClient]:
    """Give a browser that has logged in."""
    link = await http.post("/v1/login-links", json={}, headers=headers)
    code = {"code": link.json()["url"].partition("code=")[2]}
    async with AsyncClient(
        base_url=api.url, headers={"origin": api.url}, timeout=60, verify=NO_TLS
    ) as browser:
        assert (await browser.post("/login", data=code)).status_code == 303
        yield browser


class LiveWorker:
    """Claims jobs and says how they went."""

    def __init__(self, store: WorkerStore, incarnation_id: int, logs: Path) -> None:
        self.store = store
        self.incarnation_id = incarnation_id
        self._logs = logs

    async def claim(self, limit: int = 1000) -> Sequence[Claimed]:
        return await self.store.claim_jobs(self.incarnation_id, request(limit))

    async def claim_and_start(self, limit: int = 1000) -> Sequence[Claimed]:
        claimed = await self.claim(limit)
        await self.start(claimed)
        return claimed

    def keep_result(self, one: Claimed, data: bytes) -> None:
        """Write what a function returned, as a warm process would."""
        path = result_path(self._logs, one.batch_id, one.job_id, one.attempt)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    async def start(self, claimed: Sequence[Claimed]) -> None:
        await self.store.start_attempts(self.incarnation_id, list(map(start_report, claimed)))

    def write(self, one: Claimed, *pieces: tuple[int, bytes]) -> None:
        """Append output, as the spawner would."""
        path = own_path(self._logs, one.batch_id, one.job_id, one.attempt)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(b"".join(encode_piece(kind, 0, data) for kind, data in pieces))

    async def block(self, claimed: Sequence[Claimed], ask: Ask) -> None:
        """Let attempts end because of what they wait for."""
        for one in claimed:
            await self.ask(AttemptKey(*key_of(one)), ask)
        await self.end(claimed, exit_code=75)

    async def keep_samples(self, key: AttemptKey, samples: Sequence[UsageSample]) -> None:
        """Keep samples of what an attempt used."""
        await FileLogWriter(self._logs).keep_samples(key, samples)

    async def ask(self, key: AttemptKey, ask: Ask) -> None:
        """Say what an attempt waits for, as an agent does before its end."""
        assert await self.store.ask_block(self.incarnation_id, key, ask)

    async def end(
        self,
        claimed: Sequence[Claimed],
        *,
        exit_code: int = 0,
        output: tuple[int, int] = (0, 0),
        reason: Reason | None = None,
        message: str = "",
    ) -> None:
        if reason is None and exit_code:
            reason = Reason.EXIT
        sizes = {"stdout_bytes": output[0], "stderr_bytes": output[1]}
        ends = [end_report(c, reason, exit_code=exit_code, message=message) for c in claimed]
        reports = [msgspec.structs.replace(one, **sizes) for one in ends]
        await run_long_enough()
        verdicts = await self.store.complete_attempts(self.incarnation_id, reports)
        assert set(verdicts) <= {"ok"}

    async def work(self) -> int:
        """Run everything that is ready; return how many jobs that were."""
        count = 0
        while claimed := await self.claim():
            await self.start(claimed)
            await self.end(claimed)
            count += len(claimed)
        return count


@contextlib.asynccontextmanager
async def open_worker(
    dsn: str,
    logs: Path,
    *,
    name: str = "w1",
    memory_mib: int = 4096,
    executors: Sequence[str] = ("process", "function", "simulation", "app", "container"),
) -> AsyncIterator[LiveWorker]:
    """Register a worker of two cores."""
    async with open_worker_store(dsn) as store:
        registered = await store.register_worker(
            name=name,
            host="here",
            pool="default",
            incarnation=f"first-{name}",
            cpu_m=2000,
            memory_mib=memory_mib,
            storage_mib=10_000,
            gpu=0,
            version="test",
            offers={"executor": [*executors]},
            same_host_proved_gone=True,
        )
        yield LiveWorker(store, registered.incarnation_id, logs)


@contextlib.asynccontextmanager
async def leading(dsn: str) -> AsyncIterator[tuple[DriverStore, int]]:
    """Give the store of a driver that leads, and its epoch."""
    async with open_driver_store(dsn) as store:
        yield store, await led_by(store)


async def fold(dsn: str) -> None:
    """Do once what a driver does."""
    async with leading(dsn) as (store, epoch):
        while (
            (await store.fold_deltas(epoch)).deltas
            or await store.sweep("sweep_cancelled", epoch, limit_jobs=1000)
            or await store.sweep("settle_children", epoch, limit_jobs=1000)
        ):
            pass


async def make_user(
    dsn: str, *, tenant: str = "local", user: str = "tester", token: str = TOKEN
) -> None:
    """Let the token of the tests be known, or one of another user."""
    async with kept_session(dsn) as session:
        await Admin(session).ensure_local_user(tenant=tenant, user=user, token=token)


async def submit(
    http: AsyncClient,
    headers: Mapping[str, str] | None = None,
    **document: Any,  # noqa: ANN401
) -> int:
    """Submit a batch, of one job that does nothing if the document does not say; return its
    number.
    """
    answer = await http.post("/v1/batches", json={"jobs": [{}], **document}, headers=headers)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


async def remove_events(dsn: str) -> None:
    """Remove all events, as a driver does when they are old."""
    async with leading(dsn) as (store, epoch):
        while await store.remove_old(epoch, events_keep_s=0, updates_keep_s=1e6):
            pass


class EventReader:
    """Reads server-sent events from a stream that stays open."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.aiter_lines()

    async def next(self) -> tuple[str, str, Any]:
        """Return (id, kind, data) of the next message; raise StopAsyncIteration at the end."""
        id_, kind, data = "", "message", None
        async with asyncio.timeout(DEADLINE_S):
            async for line in self._lines:
                if not line:
                    if data is not None:
                        return id_, kind, data
                    kind = "message"
                    continue
                name, _, value = line.partition(": ")
                if name == "id":
                    id_ = value
                elif name == "event":
                    kind = value
                elif name == "data":
                    data = value
        raise StopAsyncIteration

    async def event(self) -> dict[str, Any]:
        """Return the document of the next event."""
        _, _, data = await self.next()
        document: dict[str, Any] = msgspec.json.decode(data)
        return document

    async def until_kept_alive(self) -> None:
        """Return when the server has said that the stream lives, though there is nothing new."""
        async with asyncio.timeout(DEADLINE_S):
            while await anext(self._lines) != ": keep-alive":
                pass


async def add(http: AsyncClient, name: str, **document: Any) -> dict[str, str]:  # noqa: ANN401
    answer = await http.post("/v1/users", json={"name": name, **document})
    assert answer.status_code == 201, answer.text
    return {"authorization": f"Bearer {answer.json()['token']}"}


async def until(http: AsyncClient, status: int, header: dict[str, str]) -> None:
    """Return when an api answers a read of this user so."""
    async with asyncio.timeout(60):
        while (await http.get("/v1/batches", headers=header)).status_code != status:
            await asyncio.sleep(0)


async def seal(database: Dsns) -> None:
    """Do once what a driver does."""
    async with leading(database["weft_driver"]) as (store, epoch):
        await store.sweep("seal_trail", epoch, limit_jobs=1000)


async def trail(
    http: AsyncClient,
    database: Dsns,
    query: str = "",
    **more: Any,  # noqa: ANN401
) -> list[Any]:
    """Return entries, oldest first."""
    await seal(database)
    answer = await http.get(f"/v1/trail{query}", **more)
    assert answer.status_code == 200, answer.text
    return list(reversed(answer.json()["items"]))
