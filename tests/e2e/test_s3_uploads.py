"""Uploads of a worker to a real server of S3 (`tests/servers/s3.sh`), without a weft."""

import asyncio
import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.metadata_service import Metadata
from e2e.s3_server import PORT, Buckets, s3_server
from e2e.test_s3_stores import PART, tags
from middle import Middle
from weft.core.addresses import AllowedHosts
from weft.core.states import AttemptKey
from weft.plugins.file_stores.s3.parts import ObjectHttpCarrier
from weft.plugins.file_stores.s3.signing import StoreSigner
from weft.ports.file_store import FileDiffers, HeldFile, Signed, StoreAway, ToSign
from weft.ports.store import StoredFileStore
from weft.settings import Settings
from weft.wire.sealed import SecretKeys, SecretRow
from weft.worker.agent.object_uploads import ObjectUploads
from weft.worker.stager.directories import JobDirectories, Plan
from worker.file_site import file_site

pytestmark = pytest.mark.engine(name="s3")

SMALL = Settings(store_single_bytes_max=PART)
buckets = fixture_of(lambda: s3_server("results"), "module")


class Signer(StoreSigner):
    """Signs for one store, as a direct worker does; the steps of parts are noted."""

    def __init__(self, url: str, credentials: str = "secret") -> None:
        keys, row = SecretKeys([bytes(32)]), SecretRow(1, 2, "key")
        super().__init__(lambda: self, lambda: keys, "results")
        body = keys.seal("AK:SK", row) if credentials == "secret" else None
        self._store = StoredFileStore(
            "s3://results", url, None, "write", credentials, row if body else None, body
        )
        self.sent: list[int] = []
        self.before: Callable[[ToSign], None] = lambda _: None

    async def find_stores(self, *_: object) -> list[StoredFileStore | None]:
        return [self._store]

    async def sign(
        self, incarnation_id: int, key: AttemptKey, wanted: Sequence[ToSign]
    ) -> Sequence[Signed]:
        self.sent += [one.part for one in wanted if one.method == "PUT"]
        await asyncio.to_thread(self.before, wanted[0])
        return await super().sign(incarnation_id, key, wanted)


@pytest.mark.parametrize(
    ("size", "last", "before"), [(9, "PUT", []), (9, "PUT", [b"before"]), (PART + 7, "POST", [])]
)
async def test_bytes_of_a_lost_worker_replace_nothing_that_came_later(
    buckets: Buckets, tmp_path: Path, size: int, last: str, before: list[bytes]
) -> None:
    """They were on their way when the next attempt left its own. Before it tries again, it asks
    whether it was given up.
    """
    gone = list[ToSign]()
    signer, target = Signer(buckets.url), "store://s/late.bin"
    site = replace(
        file_site(tmp_path),
        signer=signer,
        settings=SMALL,
        objects=ObjectHttpCarrier(AllowedHosts(everything=True), 10),
    )
    directories = JobDirectories(tmp_path / "jobs")

    def check() -> None:
        if gone:
            raise StoreAway("it was given up")

    async def leave(attempt: int) -> bytes:
        (tmp_path / f"{attempt}").write_bytes(data := os.urandom(size))
        with (tmp_path / f"{attempt}").open("rb") as file:
            held = HeldFile(file.fileno(), size, hashlib.sha256(data).digest(), check)
            key = AttemptKey(1, 1, attempt)
            if directories.plan_of(key) is None:
                directories.make(key)
                directories.keep_plan(key, Plan())
            await ObjectUploads(site, 7, directories).store(key, target, held)
        return data

    def overtake(one: ToSign) -> None:
        if one.method == last and bool(one.upload) == (size > PART):
            signer.before = lambda _: None
            before.append(asyncio.run(leave(2)))
            signer.before = gone.append

    for data in before:
        buckets.ask("PUT", "results/late.bin", data)
    signer.before = overtake
    with pytest.raises(StoreAway, match="it was given up"):
        await leave(1)
    assert buckets.ask("GET", "results/late.bin") == before[-1]
    gone.clear()
    signer.before = lambda _: None
    assert await leave(1) == buckets.ask("GET", "results/late.bin")
    assert tags(buckets, "results").pop("late.bin")
    buckets.ask("DELETE", "results/late.bin")


async def test_the_role_of_the_machine_stores_in_parts(
    buckets: Buckets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its credentials are asked for again when they are nearly over, and not before."""
    file, data, key = tmp_path / "file", os.urandom(2 * PART + 7), AttemptKey(1, 1, 1)
    file.write_bytes(data)
    service = ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
    with service, file.open("rb") as opened, ThreadPoolExecutor(1) as serving:
        serving.submit(service.serve_forever)
        at = f"http://127.0.0.1:{service.server_port}"
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", at)
        site = replace(
            file_site(tmp_path),
            signer=Signer(buckets.url, "instance-role"),
            settings=SMALL,
            objects=ObjectHttpCarrier(AllowedHosts(everything=True), 10),
        )
        directories = JobDirectories(tmp_path / "jobs")
        directories.make(key)
        directories.keep_plan(key, Plan())
        held = HeldFile(opened.fileno(), len(data), hashlib.sha256(data).digest())
        try:
            await ObjectUploads(site, 7, directories).store(key, "store://s/role.bin", held)
        finally:
            service.shutdown()

    assert buckets.ask("GET", "results/role.bin") == data
    assert tags(buckets, "results")["role.bin"].endswith('-3"')
    roles = "/latest/meta-data/iam/security-credentials/"
    assert Metadata.asked == [roles, f"{roles}builder"] * 3  # one by obstore, for HEAD


async def test_an_upload_goes_on_with_the_part_that_is_missing(
    buckets: Buckets, tmp_path: Path
) -> None:
    """Also in the next agent; parts of a file that was changed are no part of an object."""
    key, target = AttemptKey(1, 1, 1), "store://s/broken.bin"
    file, data = tmp_path / "file", os.urandom(2 * PART + 7)
    file.write_bytes(data)
    with file.open("rb") as opened, Middle("127.0.0.1", PORT).running() as middle:
        held = HeldFile(opened.fileno(), len(data), hashlib.sha256(data).digest())
        signer = Signer(f"http://127.0.0.1:{middle.port}")
        site = replace(
            file_site(tmp_path),
            signer=signer,
            settings=SMALL,
            objects=ObjectHttpCarrier(AllowedHosts(everything=True), 10),
        )

        def agent() -> ObjectUploads:
            directories = JobDirectories(tmp_path / "jobs")
            directories.adopt([key])
            return ObjectUploads(site, 7, directories)

        made = JobDirectories(tmp_path / "jobs")
        made.make(key)
        made.keep_plan(key, Plan())
        signer.before = lambda one: middle.cut() if one.part == 3 else None
        with pytest.raises(StoreAway):
            await agent().store(key, target, held)
        assert signer.sent == [1, 2, 3, 3, 3]
        middle.mend()
        signer.before = lambda _: None
        signer.sent.clear()

        await agent().store(key, target, held)

        assert signer.sent == [3]
        assert buckets.ask("GET", "results/broken.bin") == data
        assert tags(buckets, "results")["broken.bin"].endswith('-3"')
        file.write_bytes(b"x" + data[1:])
        made.keep_plan(key, Plan())
        with pytest.raises(FileDiffers):
            await agent().store(key, target, held)
        assert tags(buckets, "results").keys() >= {"broken.bin"}
        assert buckets.ask("GET", "results/broken.bin") == data
