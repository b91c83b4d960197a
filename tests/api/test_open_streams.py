"""Streams of all routes end when who opened them may have them no longer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest

from api.full_tenant import Filler
from api.live import DEADLINE_S, TOKEN, LiveApi, add, as_admin, make_user, open_worker
from api.path_values import PathValues
from api.test_worker_link import Outside, facts
from benches.route_bodies import body_of
from builders import request, start_report
from contexts import beside
from weft.api.http.routing import Send, Stream
from weft.api.open_streams import AskAgain, OpenStreams
from weft.client.http.connection import ConnectionLost
from weft.core.states import AttemptKey
from weft.ports.store import Caller, KeptFile
from weft.run.doors import api_doors
from weft.settings import Settings
from weft.wire import exec as wire
from weft_link.worker.calls import LinkCaller

pytestmark = pytest.mark.slow
EXEC, CARRIED = "POST /v1/batches/{b}/jobs/{j}/exec", "POST /v1/worker-link/exec"
OF_WORKERS = {CARRIED, "GET /v1/worker-link/notices"}
QUERIES = {
    "GET /v1/batches/{b}/jobs/{j}/file": "?path=x",
    "GET /v1/batches/{b}/jobs/{j}/log": "?stream=stdout",
    "GET /ui/batches/{b}/jobs/{j}/log/live": "?from=0.0..",
}
"""What a route needs besides its path."""


class Loss(NamedTuple):
    """A request that takes something from a user: theirs if a token of theirs, else of an
    administrator.
    """

    user: str
    method: str
    path: str
    document: Any = None
    of: str = ""
    """Streams whose route has this in its name end for good; others may go on, or begin again."""


LOSSES = {
    "token revoked": Loss("bob", "DELETE", "/v1/tokens/{bob_token}"),
    "batch unshared": Loss("bob", "DELETE", "/v1/batches/{b}/permissions/bob", of="{b}"),
    "user removed": Loss("bob", "DELETE", "/v1/users/bob"),
    "role lowered": Loss("bob", "PATCH", "/v1/users/bob", {"role": "viewer"}, of="/exec"),
    "role without rights": Loss("bob", "PATCH", "/v1/users/bob", {"role": "worker"}),
    "worker's token revoked": Loss("olga", "DELETE", "/v1/tokens/{olga_token}"),
    "worker's owner removed": Loss("olga", "DELETE", "/v1/users/olga"),
    "worker's owner lowered": Loss("olga", "PATCH", "/v1/users/olga", {"role": "operator"}),
}


@dataclass(frozen=True)
class Site:
    """A batch of somebody else that bob sees, and a worker outside with a token of olga."""

    api: LiveApi
    http: httpx.AsyncClient
    headers: Mapping[str, Mapping[str, str]]
    """Of requests of bob, and of the worker."""
    accounts: Mapping[str, Mapping[str, str]]
    ids: PathValues
    incarnation_id: int
    caller: LinkCaller

    async def lose(self, loss: Loss) -> None:
        path, header = loss.path.format_map(self.ids), None
        if "tokens" in path:
            header = self.accounts[loss.user]
        answer = await self.http.request(loss.method, path, json=loss.document, headers=header)
        assert answer.status_code == 200, (loss, answer.text)

    def routes(self) -> Sequence[str]:
        """Return the names of all routes that answer with a stream, for a door the first."""
        return [route.names[0] for route in self.api.app.router.routes if route.streams]

    def _asked(self) -> Mapping[str, Any]:
        """Return what the api asks workers outside now, by number."""
        found: Mapping[str, Any] = self.api.app.services.link.running._asked  # type: ignore[union-attr]
        return found

    @contextlib.asynccontextmanager
    async def all_open(self) -> AsyncIterator[Mapping[str, asyncio.Task[int]]]:
        """Open a stream of each route; give what reads them, and returns their status."""
        async with contextlib.AsyncExitStack() as stack:
            opened = dict[str, asyncio.Task[int]]()
            names = sorted(self.routes(), key=lambda name: (name == CARRIED, name == EXEC))
            for name in names:  # the worker carries what is asked before
                begun = asyncio.Event()
                reading = self._read(name, begun)
                opened[name] = await stack.enter_async_context(beside(reading))
                if name == EXEC:
                    while not any(one.incarnation_id for one in self._asked().values()):
                        assert not opened[name].done(), opened[name].result()
                        await asyncio.sleep(0)
                else:
                    waiting = asyncio.create_task(begun.wait())
                    await asyncio.wait({waiting, opened[name]}, return_when="FIRST_COMPLETED")
                    assert begun.is_set(), opened[name].result()
            while len(self.api.app.services.streams._open) < len(names):
                await asyncio.sleep(0)
            yield opened

    async def _read(self, name: str, begun: asyncio.Event) -> int:
        method, _, path = name.partition(" ")
        ids = PathValues(self.ids | {"j": 2}) if name == EXEC else self.ids
        path, body, media = ids.fill(path) + QUERIES.get(name, ""), None, ""
        if name in OF_WORKERS:
            path += f"?incarnation={self.incarnation_id}"
        if name == CARRIED:
            return await self._carry(begun)
        if name == EXEC:
            body, media = body_of(name)
        header = self.headers["olga" if name in OF_WORKERS else "bob"]
        kind = {"content-type": media} if media else {}
        async with self.api.client() as http:
            asked = http.stream(method, path, content=body, headers={**header, **kind})
            with contextlib.suppress(httpx.RemoteProtocolError):  # it was cut off
                async with asked as answer:
                    if answer.status_code != 200:
                        raise Refused(answer.status_code)
                    begun.set()
                    async for _ in answer.aiter_bytes():
                        pass
            return answer.status_code

    async def _carry(self, begun: asyncio.Event) -> int:
        """Do what a worker does that is asked for a command."""
        (number,) = self._asked()
        with contextlib.suppress(ConnectionLost):
            async with await self.caller.open_exec(number) as reply:
                frames = wire.frames(reply.chunks())
                await anext(frames)
                said = msgspec.msgpack.encode(wire.Begun())
                await reply.send(wire.frame(wire.BEGIN, said))
                begun.set()
                async for _ in frames:
                    pass
        return 200

    async def again(self, name: str) -> int:
        """Return the status of the same request."""
        try:
            return await self._read(name, asyncio.Event())
        except Refused as refused:
            return int(str(refused))


class Refused(Exception):
    """A stream did not begin; with the status."""


@pytest.fixture(autouse=True)
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """No stream comes to its end: it is as large as can be, or read as slowly."""
    send_all = Stream._send_all

    async def send_on(self: Stream, send: Send) -> None:
        if self.resumes or self.headers["content-type"] == wire.MEDIA:
            await send_all(self, send)
        await asyncio.Event().wait()

    monkeypatch.setattr(Stream, "_send_all", send_on)


@pytest.fixture
async def site(database: dict[str, str], tmp_path: Path) -> AsyncIterator[Site]:
    await make_user(database["admin"])
    api = LiveApi(database["weft_api"], Settings(home=tmp_path), doors=api_doors())
    api.link_dsn = database["weft_worker"]
    async with api, api.client() as http:
        outside = Outside(api, http, tmp_path)
        bob, olga = await add(http, "bob"), await add(http, "olga", role="admin")
        (bobs,) = (await http.get("/v1/tokens", headers=bob)).json()["items"]
        terms = {"name": "out", "scopes": ["work"], "pool": "default"}
        olgas = (await http.post("/v1/tokens", json=terms, headers=olga)).json()
        (token := tmp_path / "token").touch(0o600)
        token.write_text(olgas["token"])
        filler = Filler(api, database, "usual")
        filler.header = {"authorization": f"Bearer {TOKEN}"}
        ids = filler.ids
        ids |= {"bob_token": bobs["token_id"], "olga_token": olgas["token_id"]}
        await leave_outputs(filler, database, tmp_path / "logs")
        store = outside.store(caller := outside.caller(token))
        worker = (await store.register_worker(**facts())).incarnation_id
        claimed = await store.claim_jobs(worker, request(1))
        await store.start_attempts(worker, [start_report(*claimed)])
        assert [(one.batch_id, one.job_id) for one in claimed] == [(ids["b"], 2)]
        headers = {"bob": bob, "olga": {"authorization": f"Bearer {olgas['token']}"}}
        caller.incarnation_id = worker
        yield Site(api, http, headers, {"bob": bob, "olga": olga}, ids, worker, caller)
        outside.close()


async def leave_outputs(filler: Filler, database: dict[str, str], logs: Path) -> None:
    """Make a batch that is shared with bob alone, whose first job is running and has left output
    and a file; and a job of a door's client.
    """
    await filler.ask("POST", "/v1/billing-projects", {"name": "anns"})
    await filler.make_app()
    made = await filler.ask("POST", "/jobs/v2", {"name": "x", "appId": filler.ids["app"]})
    aloe = made["result"]["id"]
    filler.ids |= {"aloe_id": aloe, "j": 1, "file_path": f"x-{aloe}.out"}
    grant = {"username": "bob", "permission": "READ"}
    await filler.ask("POST", f"/jobs/v2/{aloe}/pems", grant)
    document = {"billing_project": "anns", "jobs": [{"command": ["true"]}] * 2}
    filler.ids["b"] = batch = int((await filler.ask("POST", "/v1/batches", document))["id"])
    await filler.ask("PUT", f"/v1/batches/{batch}/permissions/bob", {"permission": "all"})
    async with open_worker(database["weft_worker"], logs) as worker:
        for one in (claimed := await worker.claim_and_start(2)):
            worker.write(one, (1, b"first\n"))
        (one,) = [one for one in claimed if one.batch_id == batch]
        key, digest = AttemptKey(one.batch_id, one.job_id, one.attempt), sha256(b"x")
        left = [KeptFile("x", 1, digest.digest())]
        assert await worker.store.record_files(
            worker.incarnation_id, key, left, staging_ms=0, storing_ms=0
        )
    ((name,),) = await as_admin(database, "SELECT replace(weft.database_id()::text, '-', '')")
    kept = logs.parent / "files" / name / f"b{batch}" / digest.hexdigest()
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"x")


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
async def test_each_stream_ends_with_the_right_to_it(site: Site, loss: Loss) -> None:
    async with asyncio.timeout(DEADLINE_S), site.all_open() as opened:
        of_worker = loss.user == "olga"
        lost = {name for name in opened if (name in OF_WORKERS) == of_worker and loss.of in name}
        assert lost
        assert not any(reading.done() for reading in opened.values())
        await site.lose(loss)
        for name in sorted(lost):
            assert await opened[name] == 200
        statuses = {name: await site.again(name) for name in lost - {CARRIED, EXEC}}

    assert set(statuses.values()) <= {401, 403, 404}


async def test_what_goes_on_is_asked_and_not_ended(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when all are doubted, as after the connection on which notices come was lost."""
    asked, ask = list[bool](), OpenStreams._ask

    async def note(self: OpenStreams, ask_again: AskAgain) -> Caller | None:
        asked.append((found := await ask(self, ask_again)) is not None)
        return found

    monkeypatch.setattr(OpenStreams, "_ask", note)
    async with asyncio.timeout(DEADLINE_S), site.all_open() as opened:
        ends = {name for name in opened if name.endswith(("/events", "/notices", "/live"))}
        site.api.app.services.streams.forget(None)
        for name in sorted(ends):
            await opened[name]  # its client asks for the rest
        while len(asked) < len(opened) - len(ends):
            await asyncio.sleep(0)

        assert [name for name in opened if opened[name].done()] == sorted(
            ends, key=[*opened].index
        )
    assert all(asked)
