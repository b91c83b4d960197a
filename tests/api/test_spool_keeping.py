"""What the api keeps of output of workers outside: bounds, retention, what readers hear."""

import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.live import LiveApi, make_user
from api.test_worker_link import Outside, facts
from builders import end_report
from builders import request as claim_of
from weft.core.errors import LinkRefused
from weft.core.states import AttemptKey
from weft.extensions.link.served import spool_limits_of
from weft.extensions.link.serving.keeping import SpoolKeeping
from weft.extensions.link.source import LinkedCheckpoints
from weft.extensions.link.worker.calls import LinkCaller
from weft.extensions.link.worker.looking import LinkFinder
from weft.extensions.link.worker.shipping import Shipper
from weft.plugins.log_stores.files.settings import FilesSettings
from weft.ports.checkpoints import CheckpointFound
from weft.ports.file_store import HeldFile
from weft.ports.store import Claimed, WorkerStore
from weft.ports.worker_link import LogPart
from weft.settings import Settings
from weft.store import open_worker_store
from weft.wire.log_format import STDOUT, encode_piece, own_path

DAY_S = 86_400.0


class Site(Outside):
    """A linked worker with a running job, and the looks of the api."""

    keeping: Callable[..., SpoolKeeping]

    async def begin(self) -> None:
        self.batch_id = await self.submit(2)
        self.link: LinkCaller = self.caller(await self.token())
        self.worker: WorkerStore = self.store(self.link)
        self.incarnation = (await self.worker.register_worker(**facts())).incarnation_id
        self.one, self.other = await self.worker.claim_jobs(self.incarnation, claim_of(2))

    def write(self, one: Claimed, text: bytes) -> Path:
        own = own_path(self.path / "worker", one.batch_id, one.job_id, one.attempt)
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_bytes(encode_piece(STDOUT, 0, text))
        return own

    async def end(self, one: Claimed, n_bytes: int) -> None:
        report = msgspec.structs.replace(end_report(one), stdout_bytes=n_bytes, location=None)
        await self.worker.complete_attempts(self.incarnation, [report])

    async def log(self, one: Claimed) -> tuple[int, bytes, str]:
        """Return status, text and whether it says that something is missing."""
        answer = await self.http.get(f"/v1/batches/b{one.batch_id}/jobs/{one.job_id}/log")
        return answer.status_code, answer.content, answer.headers.get("x-weft-truncated", "")


@pytest.fixture
async def site(
    database: dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Site]:
    await make_user(database["admin"])
    files = getattr(request, "param", FilesSettings())
    settings = Settings(home=tmp_path, plugin_sections=(files,))
    api = LiveApi(database["weft_api"], settings)
    api.link_dsn = database["weft_worker"]
    store = open_worker_store(database["weft_worker"])
    async with api, api.client() as http, store as direct:
        site = Site(api, http, tmp_path)
        limits = spool_limits_of(settings)
        site.keeping = lambda at=None, **more: SpoolKeeping(
            api.spool(), replace(limits, **more), lambda: direct,
            clock=lambda: at or datetime.now(UTC),
        )  # fmt: skip
        await site.begin()
        yield site
        site.close()


async def test_output_of_others_is_not_written_and_not_removed(site: Site) -> None:
    for path in (f"attempts/b{site.batch_id}/0/7.1", "attempts/b999/0/1.1"):
        with pytest.raises(LinkRefused):
            await site.link.call("write_log", site.incarnation, path, 0, b"x")
        with pytest.raises(LinkRefused):
            await site.link.call("remove_logs", site.incarnation, [path])
        parts = [LogPart(path, 0, b"x")]
        assert await site.link.call("write_logs", site.incarnation, parts) == [-1]
    site.write(site.one, b"kept")
    await site.end(site.one, 4)
    own = str(own_path(Path(), site.one.batch_id, site.one.job_id, 1))
    with pytest.raises(LinkRefused):  # what has ended is not changed any more
        await site.link.call("write_log", site.incarnation, own, 17, b"x")
    await site.link.call("remove_logs", site.incarnation, [f"attempts/b{site.batch_id}"])
    assert await site.log(site.one) == (200, b"kept", "false")


class NotingCaller(LinkCaller):
    """Notes which calls there are."""

    def __init__(self, finder: LinkFinder) -> None:
        super().__init__(finder)
        self.names: list[str] = []

    async def call(self, name: str, /, *args: object, **given: object) -> Any:  # noqa: ANN401 (of the call's type)
        self.names.append(name)
        return await super().call(name, *args, **given)


async def test_short_pieces_of_many_files_go_in_one_call(site: Site) -> None:
    """What the api has is asked once; a long piece goes alone."""
    caller = NotingCaller(LinkFinder(site.api.url, site.path / f"token-{site.token_id}"))
    caller.incarnation_id = site.incarnation
    shipper, both = Shipper(caller), (site.one, site.other)
    shipper.root = site.path / "worker"
    shipper.follow(AttemptKey(one.batch_id, one.job_id, one.attempt) for one in both)
    reports = [msgspec.structs.replace(end_report(one), location=None) for one in both]
    for one in both:
        site.write(one, b"short %d" % one.job_id)
    await shipper.ship_ended(reports)
    short = [await site.log(one) for one in both]
    for one in both:
        site.write(one, b"x" * 70_000)
    await shipper.ship_ended(reports)
    caller.close()

    assert [text for _, text, _ in short] == [b"short 1", b"short 2"]
    assert caller.names == ["write_logs"] * 3 + ["write_log"] * 2


@pytest.mark.parametrize("site", [FilesSettings(spool_attempt_bytes_max=4096)], indirect=True)
async def test_output_beyond_the_bound_is_cut_and_the_job_ends(site: Site) -> None:
    site.write(site.one, b"x" * 3000)
    site.write(site.other, b"y" * 5000)
    await site.end(site.one, 3000)
    await site.end(site.other, 5000)
    assert await site.log(site.one) == (200, b"x" * 3000, "false")
    answer = await site.http.get(f"/v1/batches/b{site.batch_id}/jobs/{site.other.job_id}/log")
    assert answer.json()["code"] == "API.OUTPUT_GONE"
    assert "4096 bytes" in answer.json()["detail"]


async def test_old_output_is_removed_once_its_job_has_ended(site: Site) -> None:
    for one in (site.one, site.other):
        site.write(one, b"early")
    await site.end(site.one, 5)
    path = str(own_path(Path(), site.batch_id, site.other.job_id, 1))
    text = encode_piece(STDOUT, 0, b"early")
    await site.link.call("write_log", site.incarnation, path, 0, text)
    now = datetime.now(UTC)
    await site.keeping(now + timedelta(days=29), keep_s=30 * DAY_S).look()
    assert (await site.log(site.one))[:2] == (200, b"early")
    await site.keeping(now + timedelta(days=31), keep_s=30 * DAY_S).look()
    answer = await site.http.get(f"/v1/batches/b{site.batch_id}/jobs/{site.one.job_id}/log")
    assert (answer.status_code, answer.json()["code"]) == (410, "API.OUTPUT_GONE")
    assert "older than 30 days" in answer.json()["detail"]
    assert (await site.log(site.other))[:2] == (200, b"early")


async def test_a_tenant_keeps_its_newest_output(site: Site) -> None:
    first = site.write(site.one, b"a" * 4000)
    await site.end(site.one, 4000)
    assert first.exists()
    await site.keeping(tenant_bytes_max=5000).look()
    assert (await site.log(site.one))[0] == 200
    await site.keeping(tenant_bytes_max=3000).look()
    assert (await site.log(site.one))[0] == 410


async def test_checkpoints_are_those_of_live_attempts_and_go_with_their_jobs(site: Site) -> None:
    kept, strange = LinkedCheckpoints(site.link), AttemptKey(site.batch_id, 7, 1)
    keys = [AttemptKey(one.batch_id, one.job_id, 1) for one in (site.one, site.other)]
    with (site.path / "packed").open("w+b") as file:
        file.write(b"x" * 3_000_000)
        file.flush()
        digest = hashlib.sha256(b"x" * 3_000_000).digest()
        held = HeldFile(file.fileno(), 3_000_000, digest)
        for key in keys:
            await kept.keep(key, held)
        for forbidden in (kept.keep(strange, held), kept.find(strange), kept.read(strange, 0)):
            with pytest.raises(LinkRefused):
                await forbidden
        found = CheckpointFound(1, 3_000_000, digest)
        assert await kept.find(keys[0]) == found
        assert len(await kept.read(keys[0], 2_000_000)) == 1_000_000
        await site.end(site.one, 0)
        with pytest.raises(LinkRefused):  # another attempt may read it now
            await kept.keep(keys[0], held)
        await site.keeping().look()
        assert [one.name for one in site.path.rglob("*.checkpoint")] == [
            f"{site.other.job_id}.1.checkpoint"
        ]
        assert await kept.find(keys[1]) == found
        await kept.keep(keys[1], held)
