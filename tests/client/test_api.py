"""What both clients send and read, and what their objects are called when somebody prints them."""

import asyncio
import fcntl
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing, closing, suppress
from pathlib import Path

import msgspec
import pytest

import weft
from cases import cases
from client.http_server import DROP, Request, answer, serving, stream
from weft import aio
from weft.client.api import Api
from weft.client.http.address import InvalidUrl, NotRunning
from weft.client.http.session import NotReachable
from weft.client.objects.batch import Batch, JobTree
from weft.client.objects.group import JobGroup
from weft.client.objects.job import Job
from weft.client.objects.names import NoBatchOfName, NoJobOfName
from weft.client.submission.refs import Block, JobRef, ref_of
from weft.core.errors import (
    BadId,
    BatchNotFound,
    Conflict,
    ParentCycle,
    Unauthenticated,
    Unavailable,
)

BATCH = b'{"id": 1, "complete": true}'


@cases(("close", "n"), [(False, 1), (True, 3)])
async def test_connections_are_kept_unless_the_server_closes_them(close: bool, n: int) -> None:
    reply = answer(200, BATCH, close=close)
    async with serving(reply) as server, Api(server.url, "t") as client:
        for _ in range(3):
            assert (await client.get_batch(1))["id"] == 1

    found = {(r.headers["authorization"], r.target) for r in server.requests}
    assert (server.n_connections, found) == (n, {("bearer t", "/v1/batches/1")})


async def test_a_lost_answer_is_asked_for_again_with_the_same_idempotency_key() -> None:
    answers = (DROP, answer(503, b"{}"), answer(507, b"{}"), answer(201, BATCH))
    async with serving(*answers) as server, Api(server.url, "t") as client:
        created = await client.create_batch({"name": "x", "jobs": [{"command": ["true"]}]})
        await client.create_batch({})

    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert (created["id"], keys.count(keys[0]), len(keys)) == (1, 4, 5)
    document = msgspec.msgpack.decode(server.requests[3].body)
    assert document == {"name": "x", "jobs": [{"command": ["true"]}]}


@pytest.mark.parametrize("lost", [[DROP], [DROP, DROP], [answer(503)], [answer(507)]])
async def test_what_a_call_removed_whose_answer_was_lost_is_gone(lost: list[bytes]) -> None:
    """What is no word of weft, or of the path alone, says nothing of the thing."""
    codes = (b'{"code": "API.SECRET_NOT_FOUND"}', b'{"code": "API.ROUTE_NOT_FOUND"}', b"", b"?")
    answers = [one for code in codes for one in (*lost, answer(404, code))]
    async with serving(answer(200, BATCH), *answers) as server, Api(server.url, "t") as client:
        await client.get_batch(1)  # its connection is kept: the next call sends again by itself
        await client.remove_secret("key")
        for _ in codes[1:]:
            with pytest.raises(weft.core.errors.NotFound):
                await client.remove_secret("key")


async def test_what_no_document_can_hold_is_refused_before_it_is_sent() -> None:
    async with serving(answer(200, b"{}")) as server, Api(server.url, "t") as client:
        for begin in (
            lambda: client.answer_job(1, 1, values={"dose": 10**400}),
            lambda: client.set_secret("key", "\ud800"),
            lambda: client.begin_exec(1, 1, ["\ud800"]),
        ):
            with pytest.raises(weft.WeftError, match="cannot be sent") as caught:
                await begin()
            assert caught.value.__context__ is None  # it would hold the secret

    assert server.requests == []


async def test_a_server_that_was_never_reached_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    async with Api(f"http://127.0.0.1:{port}", "t") as client:
        with pytest.raises(NotReachable) as caught:
            await asyncio.wait_for(client.get_batch(1), 1)

    assert caught.value.exit_code == 3
    assert str(port) in caught.value.message


@pytest.mark.slow
async def test_patience_ends_and_the_user_was_told() -> None:
    told: list[str] = []
    problem = b'{"title": "no database", "code": "STORE.UNAVAILABLE"}'
    async with (
        serving(answer(503, problem, retry_after=1)) as server,
        Api(server.url, "t", patience_s=1.5, on_outage=told.append) as client,
    ):
        with pytest.raises(Unavailable) as caught:
            await client.get_batch(1)

    assert (caught.value.message, told) == ("no database", ["the server answered 503"])


async def test_retry_after_is_respected_within_patience() -> None:
    busy = answer(429, b"{}", retry_after=100)
    async with serving(busy) as server, Api(server.url, "t", patience_s=5) as client:
        with pytest.raises(Unavailable):
            await asyncio.wait_for(client.get_batch(1), 1)

    assert len(server.requests) == 1


async def test_problem_documents_are_raised_as_the_same_class() -> None:
    problem = {
        "title": "batch b7 does not exist",
        "detail": "Why.",
        "hint": "What to do.",
        "code": "API.BATCH_NOT_FOUND",
        "status": 404,
        "trace_id": "abc",
        "errors": [{"pointer": "/x", "message": "wrong"}],
    }
    body = json.dumps(problem).encode()
    async with serving(answer(404, body)) as server, Api(server.url, "t") as client:
        with pytest.raises(BatchNotFound) as caught:
            await client.get_batch(7)

    error = caught.value
    assert (error.message, error.detail, error.hint) == (problem["title"], "Why.", "What to do.")
    assert (error.errors[0].pointer, error.__notes__) == ("/x", ["trace id abc"])


@pytest.mark.parametrize(
    ("status", "code", "base"),
    [
        (409, "API.SOMETHING_NEW", Conflict),
        (400, "API.PARENT_CYCLE", ParentCycle),
        (401, "API.UNAUTHENTICATED", Unauthenticated),
        (502, None, Unavailable),  # no problem document
        (302, None, weft.core.errors.Internal),
        (200, None, Unavailable),  # no document at all
    ],
)
async def test_codes_of_a_newer_server_keep_their_family(
    status: int, code: str | None, base: type[weft.core.errors.WeftError]
) -> None:
    body = json.dumps({"title": "no", "code": code}).encode() if code else b"<html>Bad gateway"
    async with serving(answer(status, body)) as server, Api(server.url, "t") as client:
        with pytest.raises(base) as caught:
            await client.get_batch(7)

    said = "not weft" if status == 200 else str(status)
    assert caught.value.code == code if code else said in str(caught.value)


async def test_a_restart_on_another_port_with_another_token_is_survived(tmp_path: Path) -> None:
    file = tmp_path / "client.json"
    async with serving(answer(200, BATCH)) as first:
        file.write_text(json.dumps({"url": first.url, "token": "one"}))
        client = Api(home=tmp_path)
        await client.get_batch(1)
    await client.close()  # its idle connection to the old server
    async with serving(answer(200, BATCH)) as second:
        file.write_text(json.dumps({"url": second.url, "token": "two"}))
        await client.get_batch(1)
        await client.close()

    assert [r.headers["authorization"] for r in second.requests] == ["bearer two"]


async def test_home_of_another_user_is_named_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To restart that user's server would neither be possible nor help."""

    def refuse(file: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(NotRunning, match="belongs to another user") as refused:
        await Api(home=tmp_path).get_batch(1)
    assert refused.value.message == f"you may not read {tmp_path}/client.json"
    assert "WEFT_TOKEN" in refused.value.hint


async def test_a_new_token_of_the_same_server_is_found(tmp_path: Path) -> None:
    file = tmp_path / "client.json"

    def check(request: Request) -> bytes:
        good = request.headers["authorization"] == "bearer new"
        file.write_text(json.dumps({"url": server.url, "token": "new"}))
        return answer(200, BATCH) if good else answer(401, b'{"title": "who are you"}')

    async with serving(check) as server, Api(home=tmp_path) as client:
        file.write_text(json.dumps({"url": server.url, "token": "old"}))
        await client.get_batch(1)

        file.write_text(json.dumps({"url": server.url, "token": "new"}))
    assert len(server.requests) == 2


async def test_events_go_on_after_the_last_one_seen() -> None:
    one = b'id: 5-1\nevent: jobs.success\ndata: {"kind": "jobs.success", "jobs": [1]}\n\n'
    two = b'id: 5-2\nevent: jobs.failed\ndata: {"kind": "jobs.failed", "jobs": [2]}\n\n'
    answers = (
        stream(b"id: 5-0\n: connected\n\n", ends=False),
        stream(b": connected\n\n" + one[:20], one[20:], ends=False),
        stream(two),
    )
    async with (
        serving(*answers) as server,
        Api(server.url, "t") as client,
        aclosing(client.events(3)) as events,
    ):
        found = [(await anext(events))["jobs"][0] for _ in range(2)]

    assert found == [1, 2]
    assert [r.headers.get("last-event-id") for r in server.requests] == [None, "5-0", "5-1"]


async def test_an_error_in_a_stream_is_raised() -> None:
    gone = b'event: error\ndata: {"title": "gone", "code": "API.EVENTS_GONE", "status": 410}\n\n'
    async with serving(stream(gone)) as server, Api(server.url, "t") as client:
        with pytest.raises(weft.core.errors.WeftError, match="gone"):
            await anext(client.events(3))


async def test_a_followed_log_ends_with_how_the_job_ended() -> None:
    log = (
        b"id: 1.1\nevent: stdout\ndata: aGkK\n\n"
        b"id: 1.2\nevent: stderr\ndata: b29wcwo=\n\n"
        b'event: end\ndata: {"state": "failed", "exit_code": 3}\n\n'
    )
    async with serving(stream(log)) as server, Api(server.url, "t") as client:
        events = [event async for event in client.follow_log(1, 2)]

    assert [(e.kind, e.data) for e in events] == [
        ("stdout", b"hi\n"),
        ("stderr", b"oops\n"),
        ("end", b""),
    ]
    assert events[-1].facts["exit_code"] == 3
    assert server.requests[0].target == "/v1/batches/1/jobs/2/log?stream=both&follow=true"


async def test_outputs_go_on_where_the_connection_broke() -> None:
    def line(job_id: int) -> bytes:
        return b'{"job_id": %d, "stdout": "aGk=", "stderr": "", "state": "success"}\n' % job_id

    answers = (stream(line(1), line(2)[:10], ends=False), stream(line(2) + line(3)))
    async with serving(*answers) as server, Api(server.url, "t") as client:
        rows = [row async for row in client.outputs(9, 1, 3)]

    assert [(row["job_id"], row["stdout"]) for row in rows] == [(1, b"hi"), (2, b"hi"), (3, b"hi")]
    assert server.requests[1].target == "/v1/batches/9/outputs?first=2&last=3"


async def test_pages_are_read_to_the_end() -> None:
    pages = (
        answer(200, b'{"items": [{"job_id": 1}], "cursor": "c"}'),
        answer(200, b'{"items": [{"job_id": 2}], "cursor": null}'),
    )
    async with serving(*pages) as server, Api(server.url, "t") as client:
        jobs = [job["job_id"] async for job in client.list_jobs(4, states=["failed", "error"])]

    assert jobs == [1, 2]
    first = "/v1/batches/4/jobs?limit=1000&state=failed&state=error"
    assert [r.target for r in server.requests] == [first, first + "&cursor=c"]


async def test_a_token_is_not_sent_to_whoever_has_the_port_of_a_dead_server(
    tmp_path: Path,
) -> None:
    """The server of a home holds its lock; when it is killed, others may get its port."""
    (tmp_path / "run").mkdir()
    async with serving(answer(200, BATCH, close=True)) as server:
        (tmp_path / "client.json").write_text(json.dumps({"url": server.url, "token": "secret"}))
        with (tmp_path / "run" / "up.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            async with Api(home=tmp_path, patience_s=0) as client:
                assert (await client.get_batch(1))["id"] == 1
                fcntl.flock(lock, fcntl.LOCK_UN)
                with pytest.raises(NotReachable) as caught:
                    await client.get_batch(1)

    assert len(server.requests) == 1
    assert caught.value.detail == "No server is running in this home."


WRONG = "h:80 ftp://x http:// http://h:port http://h:-1 http://h:99999 http://é http://h/é"


@cases("url", WRONG.split())
async def test_an_address_that_is_none_is_refused(url: str) -> None:
    async with Api(url, "t") as client:
        with pytest.raises(InvalidUrl):
            await client.get_batch(1)


ALONE = """
import signal, sys
from weft.client.api import Api
from weft.client.http import connection
from weft.client.http.blocking import asyncio, need_loop, run
connection.REPLY_TIMEOUT_S = float(sys.argv[2])
async def ask():
    async with Api(sys.argv[1], "t", patience_s=0) as client:
        try:
            if sys.argv[3] == "early":
                signal.raise_signal(signal.SIGINT)
                await need_loop()
            await client.get_batch(1)
        except asyncio.CancelledError:
            await client.get_batch(2)
            raise
run(ask())
"""


def alone(url: str, reply_timeout_s: float, when: str = "") -> "subprocess.Popen[str]":
    """Ask without an event loop. `when` early: Ctrl-C comes while nothing is waited for."""
    words = [sys.executable, "-c", ALONE, url, str(reply_timeout_s), when]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True)


@cases(
    ("when", "targets"), [("", ["/v1/batches/1", "/v1/batches/2"]), ("early", ["/v1/batches/2"])]
)
async def test_ctrl_c_cancels_a_call_without_a_loop(when: str, targets: list[str]) -> None:
    """So that it cleans up: the answer never comes, the next request is answered."""

    def interrupt(_: Request) -> bytes:
        process.send_signal(signal.SIGINT)
        return b"H"

    async with serving(*[interrupt] * (not when), answer(200)) as server:
        process = alone(server.url, 60, when)
        _, told = await asyncio.to_thread(process.communicate)

    assert [request.target for request in server.requests] == targets
    assert (process.returncode, told.splitlines()[-1]) == (-signal.SIGINT, "KeyboardInterrupt")


async def test_a_reply_that_trickles_ends_without_a_loop() -> None:
    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            while not reader.at_eof():
                writer.write(b"H")
                with suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(9), 0.05)

    async with await asyncio.start_server(trickle, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        process = alone(f"http://127.0.0.1:{port}", 0.5)
        _, told = await asyncio.to_thread(process.communicate, timeout=30)

    assert "No answer in time." in told


async def test_the_sync_client_waits_and_iterates() -> None:
    pages = (answer(200, BATCH), answer(200, b'{"items": [{"id": 1}, {"id": 2}], "cursor": null}'))

    def use(url: str) -> list[int]:
        with weft.Client(url, "t") as client:
            first = client.get_batch(1).id
            return [first, *(batch["id"] for batch in client.list_batches())]

    async with serving(*pages) as server:
        assert await asyncio.to_thread(use, server.url) == [1, 1, 2]


def test_every_error_of_the_server_is_known_by_its_code() -> None:
    """Also those that nothing here but a problem document names."""
    code = (
        "import sys\n"
        "import weft.client.api\n"
        "from weft.client.http.problems import to_error\n"
        "kinds = {c: type(to_error(400, {'code': c})) for c in sys.argv[1:]}\n"
        "print(*[c for c in kinds if kinds[c].__module__ == to_error.__module__])\n"
    )
    page = (Path(__file__).parents[2] / "docs" / "errors.md").read_text()
    codes = re.findall(r"^\| `(API\.[A-Z_]+)`.*weft\.core", page, re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-c", code, *codes], check=True, capture_output=True, text=True
    )

    assert codes
    assert done.stdout.split() == []


URL = "http://weft.example:8765"


@pytest.fixture(params=["weft", "weft.aio"])
def client(request: pytest.FixtureRequest) -> Iterator[weft.Client | aio.Client]:
    if request.param == "weft.aio":
        yield aio.Client(URL, "secret")
        return
    with weft.Client(URL, "secret") as found:
        yield found


def test_a_client_says_where_its_server_is(
    client: weft.Client | aio.Client, tmp_path: Path
) -> None:
    assert repr(client) == f"<Client of {URL}>"
    assert repr(aio.Client(home=tmp_path)) == "<Client: no server is running here>"
    with weft.Client(home=tmp_path) as none, pytest.raises(NotRunning, match="weft up"):
        none.get_batch(1)
    with weft.Executor(url=URL) as executor:
        assert repr(executor) == f"<weft.Executor of {URL}: no calls yet>"


def test_a_builder_says_what_it_collects(client: weft.Client | aio.Client) -> None:
    builder = client.create_batch(name="letters")
    tree = builder.job_tree()
    job = builder.create_job(["true"])
    group = tree.create_path("/a")
    group.create_job(["true"])

    assert repr(builder) == "<BatchBuilder of new batch 'letters', 2 jobs not submitted yet>"
    assert repr(group) == "<GroupBuilder of new batch 'letters' /a, 2 jobs not submitted yet>"
    assert repr(tree) == "<JobTreeBuilder of new batch 'letters'>"
    assert repr(job) == "<Job that is not submitted yet>"
    assert repr(client.update_batch(7)) == "<BatchBuilder of b7, 0 jobs not submitted yet>"
    assert repr(client.create_batch()) == "<BatchBuilder of new batch, 0 jobs not submitted yet>"


async def test_what_exists_has_the_name_that_the_command_line_takes() -> None:
    there = aio.Client(URL)
    document = {"batch_id": 7, "group_id": 2, "name": "a", "path": "/a"}

    batch = Batch(there.api, 7)
    assert repr(batch) == "<Batch b7>"
    assert (str(batch.id), repr(batch.id), f"b{batch.id}", batch.id + 1) == ("b7", "b7", "b7", 8)
    assert json.dumps(batch.id) == "7"
    assert repr(JobTree(there.api, 7)) == "<JobTree of b7>"
    assert repr(JobGroup(there.api, document)) == "<JobGroup b7 /a>"
    assert repr(Job(there.api, ref_of(7, 3))) == "<Job b7.j3>"
    assert repr(Job(there.api, JobRef(Block(7, 1), 3, 10))) == "<Job b7.j3-j12>"
    await there.close()


def test_tab_shows_the_public_names() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import weft; print(*dir(weft))"], check=True, capture_output=True
    )
    assert {"Client", "Executor", "aio"} <= set(done.stdout.decode().split())


def batches(request: Request) -> bytes:
    if "?" in request.target:
        return answer(200, b'{"items": [{"id": 42, "job_id": 7}], "cursor": null}')
    return answer(200, b'{"id": 42, "job_id": 7}')


@pytest.mark.parametrize("name", ["nightly", "b42", 42])
async def test_batches_and_jobs_are_found_by_names_and_ids(name: str | int) -> None:
    async with serving(batches) as server, aio.Client(server.url, "t") as client:
        batch = await client.get_batch(name)
        job, again = [await client.get_job(f"{name}.{job}") for job in ("j7", "align")]
        await client.api.set_limit({"amount_max": batch.id}, batch_id=batch.id)

    assert (batch.id, repr(job), repr(again)) == (42, *["<Job b42.j7>"] * 2)
    assert {"name=nightly&" in one.target for one in server.requests[:1]} == {name == "nightly"}
    with pytest.raises(BadId):
        await client.get_job("nightly")


async def test_a_name_that_no_batch_has_is_said() -> None:
    none = answer(200, b'{"items": [], "cursor": null}')
    async with serving(none) as server, aio.Client(server.url, "t") as client:
        with pytest.raises(NoBatchOfName, match="nightly"):
            await client.get_batch("nightly")
        with pytest.raises(NoJobOfName, match="b42 has no job named 'align'"):
            await client.get_job("b42.align")


def test_a_frame_without_pandas_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with weft.Client(URL, "secret") as client, pytest.raises(ImportError, match="pip install"):
        client.list_batches().to_frame()
