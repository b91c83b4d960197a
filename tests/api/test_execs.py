"""`POST …/exec`: beside which jobs no command runs, and who learns that they are there."""

# ruff: noqa: F811 (`outside` is a fixture)

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import msgspec
import pytest

from api.live import make_user, open_worker, trail
from api.test_worker_link import Outside, facts, outside  # noqa: F401 (a fixture)
from benches.route_bodies import body_of
from builders import request, start_report
from weft.core.errors import LinkRefused
from weft.ports.runner import RUNNER_PLUGINS
from weft.ports.worker_link import Seen
from weft.wire import exec as wire
from weft.wire.exec import BEGIN, MEDIA, frame
from weft_link.serving import looking

PATH = "/v1/batches/{b}/jobs/{j}/exec"
FULL, BEGUN = (
    frame(BEGIN, msgspec.msgpack.encode(one))
    for one in (wire.Refused("WORKER.EXECS_FULL", "it is full"), wire.Begun())
)
OUT, LOST = frame(wire.STDOUT, b"x"), frame(wire.END, b'["ended",null,false,""]')


async def ask(http: httpx.AsyncClient, batch_id: int, token: str = "") -> tuple[int, str]:
    """Ask for a command beside the first job; return the status and the code of the answer."""
    body, media = body_of(f"POST {PATH}")
    headers = {"content-type": media} | ({"authorization": f"Bearer {token}"} if token else {})
    answer = await http.post(PATH.format(b=batch_id, j=1), content=body, headers=headers)
    return answer.status_code, answer.json()["code"]


async def test_no_command_runs_beside_a_job_elsewhere(
    http: httpx.AsyncClient, database: dict[str, str], tmp_path: Path
) -> None:
    """Whatever runs it: where no spawner of its worker listens in this home, none is begun."""
    await make_user(database["admin"], tenant="others", token="o" * 20)
    answers = {}
    for name in RUNNER_PLUGINS.names():
        async with open_worker(database["weft_worker"], tmp_path / "logs", name=name) as worker:
            made = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
            waiting, claimed = await ask(http, made.json()["id"]), await worker.claim()
            await worker.start(claimed)
            asked = [await ask(http, made.json()["id"], token) for token in ("", "o" * 20)]
            await worker.end(claimed)
            answers[name] = [waiting, *asked, await ask(http, made.json()["id"])]

    gone = (409, "API.JOB_NOT_RUNNING")
    refused = [gone, (409, "WORKER.EXEC_ELSEWHERE"), (404, "API.BATCH_NOT_FOUND"), gone]
    assert answers == dict.fromkeys(RUNNER_PLUGINS.names(), refused)
    assert len(answers) > 3
    said = [one["refused"] for one in await trail(http, database, "?action=exec_job")]
    assert said == [code for _, code in (gone, refused[1], gone)] * len(answers)


async def test_terminals_and_ports_have_bounds(http: httpx.AsyncClient) -> None:
    made = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
    path, answers = PATH.format(b=made.json()["id"], j=1), []
    sizes = (-1, 80, "xterm"), (10**6, 10**6, "xterm"), (24, 80, "a\0b")
    terminals = [dict(zip(("rows", "columns", "name"), size, strict=True)) for size in sizes]
    documents = [{"command": ["sh"], "terminal": terminal} for terminal in terminals]
    ports = [{"port": 0}, {"port": 65_536}, {"port": "x"}, {"port": 1, "command": ["sh"]}, {}]
    for document in [*documents, *ports, {"port": 1, "terminal": {"rows": 1, "columns": 1}}]:
        body = frame(BEGIN, json.dumps(document).encode())
        answer = await http.post(path, content=body, headers={"content-type": MEDIA})
        answers.append((answer.status_code, answer.json()["code"]))

    assert answers == [(400, "API.WRONG_TYPE")] * 9


async def test_a_command_outside_is_carried_by_the_worker_that_was_asked(
    outside: Outside, database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, other = [outside.caller(await outside.token()) for _ in range(2)]
    store, body = outside.store(caller), body_of(f"POST {PATH}")[0]
    worker = (await store.register_worker(**facts())).incarnation_id
    await outside.store(other).register_worker(**facts(name="node2", incarnation="second"))
    batch_id = await outside.submit(1)
    await store.start_attempts(worker, [start_report(*await store.claim_jobs(worker, request(1)))])
    await make_user(database["admin"], tenant="others", token="o" * 20)
    viewer = await outside.http.post("/v1/tokens", json={"name": "v", "scopes": ["read"]})
    questions = aiter(caller.listen("look"))
    assert await anext(questions) == ("", "")

    async def answer_to(say: Callable[[str], Awaitable[object]]) -> httpx.Response:
        path, media = PATH.format(b=batch_id, j=1), {"content-type": wire.MEDIA}
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            asked = group.create_task(outside.http.post(path, content=body, headers=media))
            await say(json.loads((await anext(questions))[1])["number"])
        return asked.result()

    def carry(*pieces: bytes, ends: bool = False) -> Callable[[str], Awaitable[object]]:
        async def say(number: str) -> None:
            other.incarnation_id, own = worker, other.incarnation_id
            for stranger, named in ((other, number), (caller, "0" * 32), (caller, "")):
                with pytest.raises(LinkRefused):
                    await stranger.open_exec(named)
            other.incarnation_id = own
            with pytest.raises(LinkRefused):
                await other.open_exec(number)
            async with await caller.open_exec(number) as reply:
                frames = wire.frames(reply.chunks())
                kind, begin = await anext(frames)
                assert (kind, msgspec.msgpack.decode(begin)[0][0]) == (wire.BEGIN, "begin")
                with pytest.raises(LinkRefused):
                    await caller.open_exec(number)
                for piece in pieces:
                    await reply.send(piece)
                assert not ends or {one async for one in frames} <= {(wire.STDIN, b"")}

        return say

    def seen(data: bytes) -> Callable[[str], Awaitable[object]]:
        return lambda number: caller.call("answer_look", worker, number, Seen(data=data))

    tokens = "o" * 20, viewer.json()["token"]
    refused = [await ask(outside.http, batch_id, token) for token in tokens]
    assert refused == [(404, "API.BATCH_NOT_FOUND"), (403, "API.RIGHT_MISSING")]
    assert "is of an older release: update it" in (await answer_to(seen(b""))).json()["detail"]
    assert "another api" in (await answer_to(seen(b"x"))).json()["detail"]
    assert (await answer_to(carry(FULL, ends=True))).json()["code"] == "WORKER.EXECS_FULL"
    assert (await answer_to(carry(OUT))).json()["code"] == "WORKER.EXEC_ELSEWHERE"
    assert (await answer_to(carry(BEGUN, OUT, LOST, ends=True))).content == OUT + LOST
    assert (await answer_to(carry(BEGUN))).content == LOST
    monkeypatch.setattr(wire, "SILENCE_S", 0.5)
    assert (await answer_to(carry(BEGUN, OUT, ends=True))).content == OUT + LOST
    monkeypatch.setattr(looking, "ANSWER_S", 0.2)
    assert "did not answer" in (await answer_to(lambda _: asyncio.sleep(0))).json()["detail"]
