"""The cache of inputs, fed by a real web server that counts what is asked of it."""

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from contexts import async_fixture_of, beside
from weft.core.addresses import parse_allowed_hosts
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.web import WebFiles
from weft.ports.file_store import FileDiffers, FileMissing
from weft.worker.stager.cache import Getting, InputCache, NotCached, Part, Wanted
from worker.counting_server import Server

MANY = 50
server = async_fixture_of(lambda: Server().running())


class Site:
    """A cache, and jobs that get files."""

    def __init__(self, root: Path, server: Server, *, bytes_max: int = 1 << 20) -> None:
        self.directory = root / "inputs"
        self.cache = InputCache(self.directory, bytes_max)
        self._server = server
        self._web = WebFiles(HttpCarrier(parse_allowed_hosts("127.0.0.1"), 10))

    async def get(self, path: str, *, tenant: int = 1, digest: bytes | None = None) -> bytes:
        """Return what a job gets."""
        url = self._server.url + path
        getting = Getting(lambda head: self._web.read(url, head), 1 << 30, Part())
        held = await self.cache.get(Wanted(tenant, url, digest), getting)
        try:
            return held.read(0, held.n_bytes)
        finally:
            os.close(held.fd)

    def names(self) -> set[str]:
        """Return what is in its directory."""
        return {path.name for path in self.directory.rglob("*") if path.is_file()}


@pytest.fixture
def site(tmp_path: Path, server: Server) -> Site:
    return Site(tmp_path, server)


def sha(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


async def test_many_jobs_fetch_a_file_once(server: Server, site: Site) -> None:
    server.files["/a"] = b"genome", '"v1"'
    server.goes_on.clear()
    jobs = [asyncio.create_task(site.get("/a")) for _ in range(MANY)]
    await server.has_begun.wait()
    late = [asyncio.create_task(site.get("/a")) for _ in range(MANY)]
    await asyncio.sleep(0)
    server.goes_on.set()

    assert set(await asyncio.gather(*jobs, *late)) == {b"genome"}
    assert server.sent == ["/a"]
    assert server.n_asked == 2  # those that came while it was fetched asked once, for all of them


async def test_changed_file_is_fetched_again(server: Server, site: Site) -> None:
    server.files["/a"] = b"old", '"v1"'
    assert await site.get("/a") == b"old"
    server.files["/a"] = b"new", '"v2"'
    assert [await site.get("/a") for _ in range(3)] == [b"new"] * 3
    assert server.sent == ["/a"] * 2
    assert site.names() == {sha(b"new").hex(), f"{sha(b'new').hex()}.from"}


async def test_known_content_is_given_without_a_question(server: Server, site: Site) -> None:
    """Also of a server that names no versions; but not for another address."""
    server.files["/a"] = server.files["/b"] = b"genome", ""
    for _ in range(3):
        assert await site.get("/a", digest=sha(b"genome")) == b"genome"
    assert server.n_asked == 1
    await site.get("/b", digest=sha(b"genome"))
    assert server.n_asked == 2
    assert len(site.names()) == 2
    with pytest.raises(FileDiffers):
        await site.get("/a", digest=sha(b"else"))


async def test_tenants_share_nothing(server: Server, site: Site) -> None:
    server.files["/a"] = b"genome", '"v1"'
    for tenant in (1, 2):
        assert await site.get("/a", tenant=tenant, digest=sha(b"genome")) == b"genome"
    assert server.sent == ["/a"] * 2
    assert {path.parent.name for path in site.directory.rglob("*.from")} == {"1", "2"}


async def test_longest_unused_files_go_first(server: Server, tmp_path: Path) -> None:
    """Also after a restart of the agent, and when it may keep less then."""
    for name in "abc":
        server.files[f"/{name}"] = name.encode() * 40, '"v1"'
    site = Site(tmp_path, server, bytes_max=100)
    for name in "abac":
        await site.get(f"/{name}")
    assert (server.sent, site.cache.n_bytes) == (["/a", "/b", "/c"], 80)
    site = Site(tmp_path, server, bytes_max=60)
    await site.get("/c")
    assert (server.sent, site.cache.n_bytes) == (["/a", "/b", "/c"], 40)
    assert site.names() == {sha(b"c" * 40).hex(), f"{sha(b'c' * 40).hex()}.from"}


async def test_what_has_no_version_is_given_to_those_who_asked_and_not_kept(
    server: Server, site: Site
) -> None:
    server.files = {"/a": (b"genome", ""), "/b": (b"y", 'W/"1"')}
    assert await asyncio.gather(*(site.get("/a") for _ in range(MANY))) == [b"genome"] * MANY
    assert await site.get("/a") + await site.get("/b") == b"genomey"
    server.files["/c"], server.headers = (b"z", '"v1"'), "Cache-Control: no-store\r\n"
    assert await site.get("/c") == b"z"
    assert server.sent == ["/a", "/a", "/b", "/c"]
    with pytest.raises(FileMissing):
        await site.get("/none")
    assert site.names() == set()


async def test_what_is_too_large_is_not_cached(server: Server, tmp_path: Path) -> None:
    server.files = {"/a": (b"x" * 101, '"v1"')}
    site = Site(tmp_path, server, bytes_max=100)
    for _ in range(2):
        with pytest.raises(NotCached):
            await site.get("/a")
    assert server.n_asked == 1
    assert site.names() == set()


async def test_damaged_file_is_fetched_again(server: Server, site: Site) -> None:
    server.files["/a"] = b"genome", '"v1"'
    await site.get("/a")
    (file,) = (path for path in site.directory.rglob("*") if path.name == sha(b"genome").hex())
    facts = file.stat()
    file.chmod(0o644)
    file.write_bytes(b"GENOME")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert await site.get("/a") == b"genome"
    assert server.sent == ["/a"] * 2


async def test_a_cancelled_job_stops_no_other(server: Server, site: Site) -> None:
    server.files["/a"] = b"genome", '"v1"'
    server.goes_on.clear()
    first, second = (asyncio.create_task(site.get("/a")) for _ in range(2))
    await server.has_begun.wait()
    first.cancel()
    server.goes_on.set()
    assert await second == b"genome"
    server.files["/a"] = b"other", '"v2"'
    server.goes_on.clear()
    server.has_begun.clear()
    alone = asyncio.create_task(site.get("/a"))
    await server.has_begun.wait()
    alone.cancel()
    await asyncio.wait([alone])
    server.goes_on.set()
    assert await site.get("/a") == b"other"
    assert not any(name.startswith(".") for name in site.names())


KILLED = """
import asyncio, sys
from pathlib import Path
from weft.core.addresses import parse_allowed_hosts
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.web import WebFiles
from weft.worker.stager.cache import Getting, InputCache, Wanted
from weft.worker.stager.cache import Part
url = sys.argv[2]
web = WebFiles(HttpCarrier(parse_allowed_hosts("127.0.0.1"), 30))
cache = InputCache(Path(sys.argv[1]), 1 << 20)
getting = Getting(lambda head: web.read(url, head), 1 << 20, Part())
asyncio.run(cache.get(Wanted(1, url, None), getting))
"""


@pytest.mark.fault
async def test_killed_agent_leaves_no_half_file(server: Server, site: Site) -> None:
    server.files["/a"] = b"genome" * 1000, '"v1"'
    server.goes_on.clear()
    command = [sys.executable, "-c", KILLED, str(site.directory), f"{server.url}/a"]
    process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.DEVNULL)
    await server.has_begun.wait()
    async with asyncio.timeout(20):
        while not any(path.stat().st_size for path in site.directory.glob("1/.new-*")):
            await asyncio.sleep(0)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    server.goes_on.set()

    assert await site.get("/a") == b"genome" * 1000
    digest = sha(b"genome" * 1000).hex()
    assert site.names() == {digest, f"{digest}.from"}


def test_a_cache_that_is_off_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    cache = InputCache(tmp_path, 0)
    cache.tidy()
    assert not cache.is_on
    assert not tmp_path.exists()


def opened_below(folder: Path) -> list[str]:
    """Return the files of a folder that this process has open."""
    names = [os.path.realpath(one) for one in Path("/proc/self/fd").iterdir()]
    return sorted(name for name in names if name.startswith(str(folder)))


@pytest.mark.parametrize("step", ["make", "opened", "oldest"])
async def test_a_job_that_is_cancelled_leaves_no_descriptor(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whatever the cache does for it at that moment, in a thread or not."""
    site = Site(tmp_path, server, bytes_max=8)
    server.files["/a"], server.files["/b"] = (b"genome", '"v1"'), (b"second", '"v1"')
    await site.get("/a")
    before = opened_below(tmp_path)
    files, reached, goes_on = site.cache._files, asyncio.Event(), threading.Event()
    loop, real = asyncio.get_running_loop(), getattr(site.cache._files, step)
    threads = ThreadPoolExecutor()
    loop.set_default_executor(threads)

    def held(*args: Any) -> Any:  # noqa: ANN401 (as the step)
        loop.call_soon_threadsafe(reached.set)
        if step != "oldest":
            goes_on.wait(60)
        return real(*args)

    async def free() -> bool:
        reached.set()
        return await asyncio.Event().wait()

    if step == "oldest":
        monkeypatch.setattr(site.cache, "free_some", free)
    else:
        monkeypatch.setattr(files, step, held)
    async with beside(site.get("/a" if step == "opened" else "/b")):
        await reached.wait()
    goes_on.set()
    await asyncio.to_thread(lambda: None)
    loop.set_default_executor(ThreadPoolExecutor())
    await asyncio.to_thread(threads.shutdown)
    await asyncio.sleep(0)

    assert opened_below(tmp_path) == before
    assert not [name for name in site.names() if name.startswith(".new-")]
