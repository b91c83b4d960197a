"""What an attempt leaves appears nowhere once another one may have left the same."""

import asyncio
import itertools
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from plugins.test_s3_stores import HERE, KEY, answering, serving
from weft.core.states import AttemptKey
from weft.plugins.file_stores.s3.parts import ObjectHttpCarrier
from weft.ports.file_store import Signed, ToSign
from weft.ports.runner import Ended, Runner
from weft.settings import Settings
from weft.wire.documents.files import FileOutput
from weft.worker import boottime
from weft.worker.agent.job_files import JobFiles
from weft.worker.agent.site import Fence, FenceTerms
from weft.worker.stager.directories import Plan
from worker.fake_store import FakeStore
from worker.file_site import file_site
from worker.test_reporting import Ear

PART, STORED = 100, "store://s/a"


class Host:
    """A host whose clock jumps at one look at it, and a server of S3."""

    def __init__(self, over_at: int, patch: pytest.MonkeyPatch) -> None:
        self.steps, self.now_ns, self.url = list[str](), 1, ""
        self._over_at, self._rename = over_at, Path.rename
        patch.setattr(boottime, "now_ns", self._look)
        patch.setattr(os, "fsync", lambda _: self.steps.append("written"))
        patch.setattr(Path, "rename", lambda *paths: self._appears(*paths))  # noqa: PLW0108 (it is bound)

    def _look(self) -> int:
        self.steps.append("look")
        self.now_ns += 10**12 * (self.steps.count("look") == self._over_at)
        return self.now_ns

    def _appears(self, *paths: Path) -> None:
        self.steps.append("appears")
        if paths:
            self._rename(*paths)

    async def sign(self, _: int, __: AttemptKey, wanted: Sequence[ToSign]) -> list[Signed]:
        self.steps.append("sign")
        return [Signed(f"{self.url}&upload={one.upload}&part={one.part}") for one in wanted]

    async def serve(
        self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        length = head.lower().partition("content-length: ")[2].partition("\r\n")[0]
        await reader.readexactly(int(length or 0))
        if "upload=u&part=0" in head if head[:4] == "POST" else "upload=&part=0" in head:
            self._appears()
        answer = answering("200 OK", b"<UploadId>u</UploadId>", more='ETag: "x"\r\n')
        await answer(head, reader, writer)


@pytest.mark.parametrize(
    ("n_bytes", "to"), [(0, ""), (9, ""), (0, STORED), (9, STORED), (PART + 9, STORED)]
)
async def test_nothing_appears_once_the_fence_is_over(
    n_bytes: int, to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept by weft, as an object, and in parts; it does as soon as the worker is confirmed."""
    for over_at in itertools.count(1):
        with monkeypatch.context() as patch:
            host, root = Host(over_at, patch), tmp_path / f"{over_at}"
            site = replace(
                file_site(root), signer=host, objects=ObjectHttpCarrier(HERE, 10),
                settings=Settings(store_single_bytes_max=PART),
            )  # fmt: skip
            fence = Fence(cast("Runner", Ear()), FenceTerms(after_s=30))
            fence.renew(host.now_ns)
            files = JobFiles(site, FakeStore(), 1, root / "files", fence)
            (files._directories.make(KEY) / "a").write_bytes(bytes(n_bytes))
            files._directories.keep_plan(KEY, Plan(outputs=(FileOutput("a", to or None),)))
            async with serving(host.serve) as host.url, asyncio.timeout(60):
                keeping = asyncio.create_task(files.keep(Ended(KEY, 10, 100), lambda _: ()))
                while not keeping.done() and fence._renewed.is_set():
                    await asyncio.sleep(0)
                is_late = not keeping.done()
                assert not is_late or "appears" not in host.steps
                fence.renew(host.now_ns)
                assert (await keeping).reason is None
            assert "look, appears" in ", ".join(host.steps)
            if not is_late:
                break
    assert over_at > 2 + (n_bytes > 0)  # before it begins, for each piece, and last
