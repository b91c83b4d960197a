"""What an attempt leaves appears nowhere once another one may have left the same."""

import asyncio
import itertools
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from plugins.test_s3_stores import HERE, KEY, answering, serving
from weft.core.states import AttemptKey, Reason
from weft.plugins.file_stores.s3.parts import ObjectHttpCarrier
from weft.ports.file_store import Signed, ToSign
from weft.ports.runner import Ended, Known, Runner
from weft.ports.store import Registered
from weft.settings import Settings
from weft.wire.documents.files import FileOutput
from weft.worker import boottime
from weft.worker.agent import job_files
from weft.worker.agent.agent import Agent
from weft.worker.agent.job_files import JobFiles
from weft.worker.agent.site import Fence, FenceTerms
from weft.worker.stager.directories import Plan
from worker.fake_store import FakeStore
from worker.file_site import file_site
from worker.test_reporting import REGISTERED, Ear, OrderedStore, site_of

PART, STORED, TERMS, AWAY_NS = 100, "store://s/a", FenceTerms(after_s=30), 10**12


class Host:
    """A host whose clocks jump at one step, and a server of S3."""

    def __init__(self, over_at: int, patch: pytest.MonkeyPatch) -> None:
        self.steps, self.now_ns, self.url = list[str](), 10**15, ""
        self._over_at, self._connect, self._read = over_at, asyncio.open_connection, os.pread
        patch.setattr(boottime, "now_ns", lambda: self._at("look"))
        patch.setattr(time, "monotonic_ns", lambda: self.now_ns)
        patch.setattr(asyncio, "open_connection", self._connected)
        patch.setattr(os, "pread", lambda *of: self._at("read") and self._read(*of))

    def _at(self, step: str) -> int:
        self.steps.append(step)
        self.now_ns += AWAY_NS * (len(self.steps) == self._over_at)
        return self.now_ns

    async def _connected(self, *to: Any, **how: Any) -> Any:  # noqa: ANN401 (as it is called)
        connection = await self._connect(*to, **how)
        self._at("connected")
        return connection

    async def sign(self, _: int, __: AttemptKey, wanted: Sequence[ToSign]) -> list[Signed]:
        self._at("sign")
        return [Signed(f"{self.url}&upload={one.upload}&part={one.part}") for one in wanted]

    async def serve(
        self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        length = head.lower().partition("content-length: ")[2].partition("\r\n")[0]
        await reader.readexactly(int(length or 0))
        if (
            head[:4] != "HEAD"
            and ("upload=u" if head[:4] == "POST" else "upload=") + "&part=0" in head
        ):
            self._at("appears")
        answer = answering("200 OK", b"<UploadId>u</UploadId>", more='ETag: "x"\r\n')
        await answer(head, reader, writer)


@pytest.mark.parametrize(
    ("n_bytes", "to"), [(0, STORED), (9, STORED), (PART + 9, STORED), (9, "")]
)
async def test_nothing_appears_once_the_fence_is_over(
    n_bytes: int, to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an object, and in parts; it does as soon as the worker is confirmed, and what weft keeps
    by its digest does at once. The time until then is not billed.
    """
    for over_at in itertools.count(1):
        with monkeypatch.context() as patch:
            host, root = Host(over_at, patch), tmp_path / f"{over_at}"
            site = replace(
                file_site(root),
                signer=host,
                objects=ObjectHttpCarrier(HERE, 10),
                settings=Settings(store_single_bytes_max=PART),
            )
            fence = Fence(cast("Runner", Ear()), TERMS)
            fence.renew(host.now_ns)
            files = JobFiles(site, FakeStore(), 1, root / "files", fence)
            (files._directories.make(KEY) / "a").write_bytes(bytes(n_bytes))
            files._directories.keep_plan(KEY, Plan(outputs=(FileOutput("a", to or None),)))
            async with serving(host.serve) as host.url, asyncio.timeout(60):
                keeping = asyncio.create_task(files.keep(Ended(KEY, 10, 100), lambda _: ()))
                while not keeping.done() and fence._renewed.is_set():
                    await asyncio.sleep(0)
                is_late = not keeping.done()
                assert not is_late or (to and "appears" not in host.steps)
                fence.renew(host.now_ns)
                kept = await keeping
            assert kept.reason is None
            assert kept.ended_ns - 100 <= 30 * 10**9 < AWAY_NS
            said = ", ".join(host.steps)
            assert said.count("appears") == said.count("look, appears") == bool(to)
            if not is_late:
                break
    assert (over_at > 6 + (n_bytes > 0)) == bool(to)  # each step was the one


@pytest.mark.parametrize("is_refused", [True, False], ids=["connection", "signature"])
async def test_what_is_left_waits_for_a_store_that_is_away(
    is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it was tried; the wait is not billed. After `output_away_s_max` it ends."""
    monkeypatch.setattr(job_files, "_AGAIN_FIRST_S", 1e-3)
    monkeypatch.setattr(job_files, "_AGAIN_LONGEST_S", 1e-3)
    fence = Fence(cast("Runner", Ear()), TERMS)
    fence.renew(time.monotonic_ns())
    n_tries, back_at = 0, 1 << 30

    class Store:
        async def sign(self, _: int, __: AttemptKey, wanted: Sequence[ToSign]) -> list[Signed]:
            nonlocal n_tries
            n_tries += 1
            if n_tries > back_at:
                return [Signed(f"{url}&part=0") for _ in wanted]
            away = (
                Signed("http://127.0.0.1:1/a") if is_refused else Signed("", "away", is_away=True)
            )
            return [away for _ in wanted]

    async def left(root: Path, settings: Settings) -> Ended:
        objects = ObjectHttpCarrier(HERE, 10)
        site = replace(file_site(root), signer=Store(), objects=objects, settings=settings)
        files = JobFiles(site, FakeStore(), 1, root / "files", fence)
        (files._directories.make(KEY) / "a").write_bytes(b"result")
        files._directories.keep_plan(KEY, Plan(outputs=(FileOutput("a", STORED),)))
        return await files.keep(Ended(KEY, 10, 100), lambda _: ())

    answer = answering("200 OK", b"", more='ETag: "x"\r\n')
    async with serving(answer) as url, asyncio.timeout(60):
        failed = await left(tmp_path / "short", Settings(output_away_s_max=1))
        assert n_tries > 30
        assert failed.reason is Reason.FILES
        n_tries, back_at = 0, 200
        kept = await left(tmp_path / "long", Settings())
    assert kept.reason is None
    assert n_tries > back_at


@pytest.mark.parametrize("silent_s", [29, 31])
async def test_dead_worker_gets_no_more_time(silent_s: int, tmp_path: Path) -> None:
    """That its ends are told is no sign of life: its jobs are given away when they would be."""

    class Store(OrderedStore):
        async def register_worker(self, **_: object) -> Registered:
            return replace(REGISTERED, silent_s=silent_s)

    agent = Agent(replace(site_of(Store(), tmp_path), fence=TERMS), on_ready=lambda: None)
    await agent._work(Known("dead", older_are_gone=True, is_over=True))

    assert agent._session is not None
    assert agent._session.fence.holds == (silent_s < 30)
