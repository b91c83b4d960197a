"""Jobs with files, on a real agent and spawner: also when the agent dies, and under accounts."""

import asyncio
import contextlib
import hashlib
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from breaking_server import BEGINS_AGAIN, GOES_ON, NEW, OLD, BreakingServer, tag
from cases import cases
from weft.core.states import Reason
from weft.wire.documents.files import FileInput, FileOutput
from weft.wire.spec import FILES, JobSpec
from worker.counting_server import Server
from worker.fake_store import FakeStore
from worker.worker_process import Worker

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts other accounts")


def sh(
    script: str, *, inputs: tuple[FileInput, ...] = (), outputs: tuple[str, ...] = ()
) -> JobSpec:
    return JobSpec(
        ("/bin/sh", "-c", script),
        inputs=inputs or None,
        outputs=tuple(map(FileOutput, outputs)) or None,
        requires=(FILES,),
    )


def kept(worker: Worker) -> dict[str, bytes]:
    return {one.path: one.digest for one in worker.store.files}


def digest(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


async def until_empty(worker: Worker) -> None:
    """Wait until no attempt has a directory; a thread removes them."""
    async with asyncio.timeout(20):
        while any((worker.files.scratch / "files").iterdir()):
            await asyncio.sleep(0)


async def test_outputs_go_from_one_job_to_the_next(worker: Worker) -> None:
    worker.store.submit(sh("echo one > a", outputs=("a",)))
    (first,) = await worker.store.until(1)
    worker.store.submit(sh('cat "$A"', inputs=(FileInput("weft://j1/a", "in/", env="A"),)))
    _, second = await worker.store.until(2)

    assert first.reason is None
    assert kept(worker) == {"a": digest(b"one\n")}
    assert worker.output(second) == b"one\n"


async def test_files_that_are_messages_come_with_their_text(worker: Worker) -> None:
    spec = sh("mkdir p; echo {} > p/a.json; echo x > b")
    outputs = (FileOutput("b"), FileOutput("p/*.json", announce=True, optional=True))
    worker.store.submit(msgspec.structs.replace(spec, outputs=outputs))
    (end,) = await worker.store.until(1)
    assert end.reason is None
    assert {one.path: one.message for one in worker.store.files} == {"b": None, "p/a.json": "{}\n"}


PRODUCTS = """mkdir -p p/map; echo x > p/a; echo y > p/map/b
echo '{"path": "p/a", "type": "FSC", "at": "2027-04-13T01:00:00Z"}' >> $WEFT_PRODUCTS
echo '{"path": "p/map/", "type": "RLIE", "at": "2027-04-14"}' >> $WEFT_PRODUCTS
"""
BY_PRODUCT = FileOutput("p/*", "maps/${product.type}/${product.at:%Y/%m/%d}/")


async def test_a_product_says_where_its_files_are_kept(worker: Worker) -> None:
    """A file, a directory, and a JSON file that speaks for itself."""
    script = PRODUCTS + """echo '{"type": "WDS", "at": "2027-04-15"}' > p/c.json"""
    worker.store.submit(msgspec.structs.replace(sh(script), outputs=(BY_PRODUCT,)))
    (end,) = await worker.store.until(1)
    assert end.reason is None
    assert kept(worker).keys() == {
        "maps/FSC/2027/04/13/p/a",
        "maps/RLIE/2027/04/14/p/map/b",
        "maps/WDS/2027/04/15/p/c.json",
    }


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo > p/c", "its output 'p/c' has no product"),
        ("echo [] > p/c.json", "its output 'p/c.json' has no product"),
        ("""echo '{"at": "2027-04-15"}' > p/c.json""", "cannot be kept: its product has no type"),
        ("""echo '{"at": "x", "type": "y"}' > p/c.json""", "${product.at:%Y/%m/%d} is no date"),
        ("""echo '{"at": "0001-01-01T00:00+14:00", "type": "y"}' > p/c.json""", "is no date"),
        ("""echo '{"at": "2027-04-15", "type": "../x"}' > p/c.json""", "leads out"),
        ("""echo '{"at": "2027-04-15", "type": "/x"}' > p/c.json""", "no empty part"),
        ("""echo '{"at": "2027-04-15", "type": {}}' > p/c.json""", "neither a text nor a number"),
        ("ln -s /etc/passwd p/c.json", "no plain file"),
        ("echo x >> $WEFT_PRODUCTS", "its products cannot be kept: line 3 is no JSON object"),
    ],
)
async def test_file_without_what_its_place_needs_fails_its_job(
    worker: Worker, script: str, said: str
) -> None:
    worker.store.submit(msgspec.structs.replace(sh(PRODUCTS + script), outputs=(BY_PRODUCT,)))
    (end,) = await worker.store.until(1)
    n_others = 0 if "its products" in said else 2
    assert (end.reason, len(kept(worker))) == (Reason.FILES, n_others)
    assert said in str(end.message)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("head -c 65537 /dev/zero > a.json", "longer than 65536 bytes"),
        ("printf '\\377' > a.json", "no UTF-8"),
        ("printf 'x\\0' > a.json", "a NUL"),
        ("for n in $(seq 101); do echo > $n.json; done", "more than 100 messages"),
    ],
)
async def test_message_that_cannot_be_one_fails_its_job(
    worker: Worker, script: str, said: str
) -> None:
    said_output = FileOutput("*.json", announce=True, optional=True)
    worker.store.submit(msgspec.structs.replace(sh(script), outputs=(said_output,)))
    (end,) = await worker.store.until(1)
    assert end.reason == Reason.FILES
    assert said in str(end.message)
    assert kept(worker) == {}


async def test_outputs_that_cannot_be_kept_are_named_beside_those_that_are(worker: Worker) -> None:
    """And a sink gets no message of such a job."""
    script = "echo x > a; echo {} > m.json; mkfifo b; : > \"$(printf '\\377')\"; ln -s a c"
    outputs = (FileOutput("none"), FileOutput("*"), FileOutput("m.json", announce=True))
    worker.store.submit(msgspec.structs.replace(sh(script), outputs=outputs))
    (end,) = await worker.store.until(1)
    assert (end.reason, {*kept(worker)}) == (Reason.FILES, {"a", "m.json"})
    assert [one.message for one in worker.store.files] == [None, None]
    for name, wrong in (
        ("none", "is missing"),
        ("b", "is no p"),
        ("c", "is no p"),
        ("\\udcff", "c"),
    ):
        assert f"its output '{name}' {wrong}" in end.message


async def test_next_agent_keeps_what_a_job_leaves(worker: Worker, short_path: Path) -> None:
    """The job runs while no agent lives; its directory is there, and goes when all is recorded."""
    fifo = short_path / "fifo"
    os.mkfifo(fifo)
    await worker.begin(sh(f"cat {fifo} > a", outputs=("a",)), sh("true", outputs=("none",)))
    await worker.store.until(1)
    await worker.crash()
    await asyncio.to_thread(fifo.write_text, "through\n")
    await worker.start()
    one, other = await worker.store.until(2)

    assert (one.reason, other.reason) == (None, Reason.FILES)
    assert other.message == "its output 'none' is missing"
    assert kept(worker) == {"a": digest(b"through\n")}
    await until_empty(worker)


async def test_cancelled_job_leaves_nothing(worker: Worker) -> None:
    await worker.begin(sh("echo x > a; exec sleep 600", outputs=("a",)))
    worker.store.cancel(1)
    (end,) = await worker.store.until(1)
    assert end.reason == Reason.CANCELLED
    assert worker.store.files == []


async def test_file_that_was_damaged_is_not_given(worker: Worker) -> None:
    worker.store.submit(sh("echo one > a", outputs=("a",)))
    await worker.store.until(1)
    (file,) = (worker.files.scratch / "kept-files").glob("b1/*")
    file.write_bytes(b"two\n")
    worker.store.submit(sh("cat a", inputs=(FileInput("weft://j1/a"),)))
    _, end = await worker.store.until(2)
    assert end.reason == Reason.FILES
    assert "not those that were expected" in end.message
    assert end.start_age_us is None


@pytest.fixture
async def of_root() -> AsyncIterator[Worker]:
    root = Path(f"/var/lib/weft-test-files-{os.getpid()}")
    root.mkdir(mode=0o711)
    one = Worker(root, FakeStore())
    one.use_accounts({("local", "ada"): "20001:20101"})
    async with one.running():
        yield one
    while root.exists():  # a thread of the worker may remove directories of jobs meanwhile
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(root)


@needs_root
async def test_files_of_a_job_under_an_account(of_root: Worker, tmp_path: Path) -> None:
    """They are its own; what it links to and what belongs to root is not read for it."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"key")
    of_root.store.submit(sh("id -u > a; chmod 000 a", outputs=("a",)))
    await of_root.store.until(1)
    of_root.store.submit(
        sh("cat in/a; stat -c %u . in in/a", inputs=(FileInput("weft://j1/a", "in/"),)),
        sh(f"ln -s {secret} a", outputs=("a",)),
        sh(f"ln -s {tmp_path} d", outputs=("d/secret",)),
        sh("rmdir -p x/y; mkdir x; ln -s /etc x/y", outputs=("x/y/shadow", "x")),
    )
    _, second, *refused = await of_root.store.until(5)

    assert kept(of_root) == {"a": digest(b"20001\n")}
    assert of_root.output(second) == b"20001\n20001\n20001\n20001\n"
    assert [one.reason for one in refused] == [Reason.FILES] * 3


async def test_input_comes_from_a_web_server(worker: Worker) -> None:
    async with Server().running() as server:
        server.files["/sets/a.txt"] = b"web\n", ""
        url = f"{server.url}/sets/a.txt"
        sums = [f"sha256:{digest(text).hex()}" for text in (b"web\n", b"else")]
        good, bad = (FileInput(url, checksum=one) for one in sums)
        worker.store.submit(sh("cat a.txt > b", inputs=(good,), outputs=("b",)))
        worker.store.submit(sh("true", inputs=(bad,)))
        done = await worker.store.until(2)
    assert kept(worker) == {"b": digest(b"web\n")}
    (failed,) = [one for one in done if one.reason is not None]
    assert failed.reason is Reason.FILES
    assert url in (failed.message or "")


@cases("name", [*GOES_ON, *BEGINS_AGAIN, "no ETag", "weak ETag"])
async def test_input_whose_connection_breaks_is_one_version(worker: Worker, name: str) -> None:
    version = {"no ETag": "", "weak ETag": f"W/{tag(OLD)}"}.get(name)
    answer = {**GOES_ON, **BEGINS_AGAIN}.get(name, GOES_ON["206"])
    before = len(worker.store.jobs)
    async with BreakingServer(answer, version=version).running() as server:
        worker.store.submit(sh("cat a", inputs=(FileInput(f"{server.url}/a"),)))
        end = (await worker.store.until(before + 1))[-1]
    assert end.reason is None
    assert worker.output(end) == (OLD if name in GOES_ON else NEW)


async def test_input_that_changes_all_the_time_is_waited_for(worker: Worker) -> None:
    async with BreakingServer(BEGINS_AGAIN["412"], always=True).running() as server:
        worker.store.submit(sh("true", inputs=(FileInput(f"{server.url}/a"),)))
        (end,) = await worker.store.until_ended(1)
    assert end.reason is Reason.BLOCKED
    assert "it was changed while it was fetched" in end.message


async def test_input_that_hangs_ends_with_its_attempt(worker: Worker) -> None:
    """Its connection, and its place in the cache: the next one asks anew."""
    begun, broken = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        heads.append(1)
        begun.set()
        size = 2 if len(heads) > 1 else 1 << 19
        writer.write(f'HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: {size}\r\n\r\n'.encode())
        if len(heads) > 1:
            writer.write(b"12")
        else:
            with contextlib.suppress(ConnectionError):  # it drips: nothing is silent
                while not reader.at_eof():
                    writer.write(b"x")
                    await writer.drain()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(1):
                            await reader.read()
            broken.set()
        writer.close()

    heads = list[int]()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, asyncio.timeout(60):
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/a"
        worker.store.submit(sh("cat a", inputs=(FileInput(url),)))
        await begun.wait()
        worker.store.cancel(1)
        (first,) = await worker.store.until(1)
        worker.store.submit(sh("cat a", inputs=(FileInput(url),)))
        _, second = await worker.store.until(2)
        await broken.wait()
    assert (first.reason, second.reason) == (Reason.CANCELLED, None)
    assert worker.output(second) == b"12"
    await until_empty(worker)


@needs_root
async def test_jobs_share_what_was_fetched_and_cannot_change_it(of_root: Worker) -> None:
    """With an account of its own a job gets a link to it, if it wants; else a copy of its own."""
    server = Server()
    server.files["/a"] = b"genome\n", '"v1"'
    async with server.running():
        link, copy = (FileInput(f"{server.url}/a", mode=mode) for mode in ("link", "copy"))
        script = "cat a; stat -c '%u %a %h' a; { echo x > a; chmod 777 a; } 2> err || echo no"
        for given in (link, copy, link):
            of_root.store.submit(sh(script, inputs=(given,)))
            await of_root.store.until(len(of_root.store.jobs))
        ends = await of_root.store.until(3)
    said = [of_root.output(one) for one in ends]

    assert said == [b"genome\n0 444 2\nno\n", b"genome\n20001 600 1\n", said[0]]
    assert server.sent == ["/a"]


async def test_job_that_would_fill_the_disk_waits_and_says_so(worker: Worker) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: %d\r\n\r\nx' % (1 << 39))
        try:
            with contextlib.suppress(ConnectionError):
                await reader.read()
        finally:  # also when the test ends before its client goes
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/a"
        worker.store.submit(sh("true", inputs=(FileInput(url),)))
        (end,) = await worker.store.until_ended(1)
    assert end.reason is Reason.BLOCKED
    assert f"{url}: it has 512.0 GiB, and the worker's disk has room for" in end.message
