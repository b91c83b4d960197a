"""What the api keeps of output of workers outside: bounds, retention, what readers hear. What they
may tell lies about, and what comes of it: nothing for others.
"""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.live import Dsns, LiveApi, as_admin, make_user
from api.test_worker_link import Outside, facts
from builders import end_report, key_of
from builders import request as claim_of
from contexts import beside, small_disk
from plugins.test_spool import checkpoint_of
from weft.core.errors import LinkFrameRefused, LinkRefused, WeftError
from weft.core.states import AttemptKey
from weft.plugins.log_stores.files.settings import FilesSettings
from weft.plugins.log_stores.files.spool import FileSpool
from weft.ports.file_store import HeldFile
from weft.ports.left_files import LeftFile
from weft.ports.store import Claimed, KeptFile, WorkerStore
from weft.ports.worker_link import LogPart
from weft.settings import Settings
from weft.store import open_worker_store
from weft.wire.log_format import (
    CUT,
    CUT_BODY,
    RECORD,
    RECORD_MAGIC,
    STDOUT,
    encode_piece,
    own_path,
)
from weft_link.served import spool_limits_of
from weft_link.serving.keeping import SpoolKeeping
from weft_link.source import LinkedCarrier, LinkedCheckpoints
from weft_link.worker import shipping
from weft_link.worker.calls import LinkCaller, LinkFinder

DAY_S = 86_400.0


class NotingCaller(LinkCaller):
    """Notes which calls there are."""

    def __init__(self, finder: LinkFinder) -> None:
        super().__init__(finder)
        self.names: list[str] = []

    async def call(self, name: str, /, *args: object, **given: object) -> Any:  # noqa: ANN401 (of the call's type)
        self.names.append(name)
        return await super().call(name, *args, **given)


class Site(Outside):
    """A linked worker with a running job, and the looks of the api."""

    keeping: Callable[..., SpoolKeeping]

    async def begin(self) -> None:
        self.batch_id = await self.submit(2)
        self.link: LinkCaller = self.caller(await self.token())
        self.worker: WorkerStore = self.store(self.link)
        self.incarnation = (await self.worker.register_worker(**facts())).incarnation_id
        self.one, self.other = await self.worker.claim_jobs(self.incarnation, claim_of(2))

    def noting_caller(self) -> NotingCaller:
        caller = NotingCaller(LinkFinder(self.api.url, self.path / f"token-{self.token_id}"))
        caller.incarnation_id = self.incarnation
        self._callers.append(caller)
        return caller

    def write(self, one: Claimed, text: bytes) -> Path:
        own = own_path(self.path / "worker", one.batch_id, one.job_id, one.attempt)
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_bytes(encode_piece(STDOUT, 0, text))
        return own

    async def end(self, one: Claimed, n_bytes: int) -> None:
        report = msgspec.structs.replace(end_report(one), stdout_bytes=n_bytes, location=None)
        await self.worker.complete_attempts(self.incarnation, [report])

    async def beat_until(self, state: str, keys: Sequence[tuple[int, int, int]]) -> None:
        """Give signs of life until the worker is shown so."""
        while (await self.http.get("/v1/workers")).json()["items"][0]["state"] != state:
            await self.worker.heartbeat(self.incarnation, keys, draining=False)

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
            api.spool,
            replace(limits, **more),
            lambda: direct,
            clock=lambda: at or datetime.now(UTC),
        )
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


async def test_short_pieces_of_many_files_go_in_one_call(site: Site) -> None:
    """What the api has is asked once; a long piece goes alone."""
    caller, both = site.noting_caller(), (site.one, site.other)
    shipper = site.shipper(caller)
    shipper.follow(AttemptKey(one.batch_id, one.job_id, one.attempt) for one in both)
    reports = [msgspec.structs.replace(end_report(one), location=None) for one in both]
    for one in both:
        site.write(one, b"short %d" % one.job_id)
    await shipper.ship_ended(reports)
    short = [await site.log(one) for one in both]
    for one in both:
        site.write(one, b"x" * 70_000)
    await shipper.ship_ended(reports)

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


@pytest.mark.parametrize("site", [FilesSettings(spool_free_bytes_min=1 << 20)], indirect=True)
async def test_full_disk_of_the_api_stops_new_jobs_until_there_is_room(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, keys = site.noting_caller(), [key_of(site.one), key_of(site.other)]
    shipper = site.shipper(caller)
    await site.submit(1)
    with small_disk(site.path / "logs", "2m") as disk:
        (filler := disk / "filler").write_bytes(bytes(3 << 19))
        async with asyncio.timeout(30), beside(site.keeping().watch_disk()):
            await site.beat_until("draining", keys)
        assert not await site.worker.claim_jobs(site.incarnation, claim_of(1))
        site.write(site.one, b"short")
        await site.end(site.one, 5)
        assert (await site.log(site.one))[0] == 410, "its end does not wait for room"
        site.write(site.other, b"late").with_suffix(".1.usage").write_bytes(bytes(48))
        await shipper.ship_ended([msgspec.structs.replace(end_report(site.other), location=None)])
        assert caller.names.count("write_log") == 1, "nothing follows what is refused"
        shipper.follow([AttemptKey(*keys[1])])
        monkeypatch.setattr(shipping, "EVERY_S", 600)
        monkeypatch.setattr(shipping, "FULL_S", 0.1)
        watch = site.keeping().watch_disk()
        async with asyncio.timeout(30), beside(shipper.run()), beside(watch):
            while caller.names.count("write_log") < 3:
                await site.log(site.other)
            filler.unlink()
            while (await site.log(site.other))[1] != b"late":
                pass
            await site.beat_until("active", keys[1:])
        assert len(await site.worker.claim_jobs(site.incarnation, claim_of(1))) == 1
        monkeypatch.delattr(FileSpool, "look_at_disk")  # no sign of life waits for a disk
        await site.worker.heartbeat(site.incarnation, keys[1:], draining=False)


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
        found = checkpoint_of(b"x" * 3_000_000)
        held = HeldFile(file.fileno(), found.n_bytes, found.digest)
        for key in keys:
            await kept.keep(key, held)
        for forbidden in (kept.keep(strange, held), kept.find(strange), kept.read(strange, 0)):
            with pytest.raises(LinkRefused):
                await forbidden
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


SEGMENT = "segments/00000001"
KEEPS_LITTLE = 1 << 20


async def of_others(site: Site) -> tuple[LinkCaller, WorkerStore, int]:
    """Return a second worker with a token of its own, and its incarnation."""
    caller = site.caller(await site.token())
    store = site.store(caller)
    found = await store.register_worker(**facts(name="node2", incarnation="second"))
    return caller, store, found.incarnation_id


@pytest.mark.parametrize("place", ["here", None])
@pytest.mark.parametrize("old", ["of another token", "with a login"])
async def test_nobody_proves_that_the_worker_of_another_token_is_gone(
    site: Site, database: Dsns, old: str, place: str | None
) -> None:
    """A cloned machine, or one whose token has a pattern, while the first lives."""
    async with open_worker_store(database["weft_worker"]) as direct:
        if old == "with a login":
            await direct.register_worker(**facts(name="node5", incarnation="x", log_place=place))
        name = "node5" if old == "with a login" else "node1"
        thief = site.store(site.caller(await site.token(workers="node*")))
        with pytest.raises(WeftError, match="is already running"):
            await thief.register_worker(
                **facts(name=name, incarnation="t", same_host_proved_gone=True, log_place=place)
            )
    keys = [key_of(one) for one in (site.one, site.other)]
    assert (await site.worker.heartbeat(site.incarnation, keys, draining=False)).alive


async def test_a_worker_proves_that_its_own_former_processes_are_gone(site: Site) -> None:
    again = facts(incarnation="t", same_host_proved_gone=True)
    with pytest.raises(WeftError, match="is already running"):
        await site.worker.register_worker(**{**again, "log_place": None})
    assert (await site.worker.register_worker(**again)).incarnation_id != site.incarnation


async def test_what_a_worker_writes_about_others_is_not_counted_there(site: Site) -> None:
    """A segment that names jobs of others: their tenant keeps its output, and all of it comes."""
    site.write(site.one, b"honest")
    await site.end(site.one, 6)
    caller, _, incarnation = await of_others(site)
    body = os.urandom(KEEPS_LITTLE)
    forged = RECORD.pack(RECORD_MAGIC, site.batch_id, site.other.job_id, 1, len(body)) + body
    at = 0
    while at < len(forged):
        at = await caller.call("write_log", incarnation, SEGMENT, at, forged[at : at + (1 << 19)])
    keeping = site.keeping(tenant_bytes_max=KEEPS_LITTLE)
    await keeping.look()
    assert await site.log(site.one) == (200, b"honest", "false")
    path = str(own_path(Path(), site.batch_id, site.other.job_id, 1))
    text = encode_piece(STDOUT, 0, b"more")
    assert await site.link.call("write_log", site.incarnation, path, 0, text) == len(text)


async def test_folders_of_nobody_go_after_a_day(site: Site) -> None:
    caller, _, incarnation = await of_others(site)
    await caller.call("write_log", incarnation, SEGMENT, 0, b"garbage" * 100)
    site.write(site.one, b"kept")
    await site.end(site.one, 4)
    now = datetime.now(UTC)
    await site.keeping(now + timedelta(hours=23)).look()
    assert len(list(site.path.glob("logs/spool-*"))) == 2
    await site.keeping(now + timedelta(hours=25)).look()
    assert len(list(site.path.glob("logs/spool-*"))) == 1
    assert await site.log(site.one) == (200, b"kept", "false")
    assert await caller.call("write_log", incarnation, SEGMENT, 700, b"x") == 0, "send it again"


async def test_one_record_does_not_end_the_looks(site: Site) -> None:
    for number, (batch_id, job_id) in enumerate([(2**63, 1), (site.batch_id, 2**31)], start=1):
        forged = RECORD.pack(RECORD_MAGIC, batch_id, job_id, 1, 3) + b"abc"
        path = f"segments/{number:08d}"
        await site.link.call("write_log", site.incarnation, path, 0, forged)
    site.write(site.one, b"old")
    await site.end(site.one, 3)
    await site.keeping(datetime.now(UTC) + timedelta(days=2), keep_s=86_400.0).look()
    assert (await site.log(site.one))[0] == 410


async def test_a_lost_worker_changes_nothing_any_more(site: Site, database: Dsns) -> None:
    """It was asleep in the middle of an upload, and its job runs elsewhere."""
    own = str(own_path(Path(), site.batch_id, site.one.job_id, 1))
    early = encode_piece(STDOUT, 0, b"early")
    await site.link.call("write_log", site.incarnation, own, 0, early)
    old = AttemptKey(site.batch_id, site.one.job_id, 1)
    await site.link.call(
        "write_checkpoint", site.incarnation, old, 0, b"o", checkpoint_of(b"older")
    )
    lose = "SELECT weft._lose_incarnation($1, clock_timestamp())"
    await as_admin(database, lose, site.incarnation)
    caller, store, incarnation = await of_others(site)
    claimed = await store.claim_jobs(incarnation, claim_of(2))
    (new,) = [AttemptKey(*key_of(one)) for one in claimed if one.job_id == site.one.job_id]
    written = ("write_checkpoint", incarnation, new, 0, b"newer", checkpoint_of(b"newer", 2))
    assert await caller.call(*written) == 5

    with pytest.raises(LinkRefused):
        await site.link.call(
            "write_checkpoint", site.incarnation, old, 1, b"lder", checkpoint_of(b"older")
        )
    with pytest.raises(LinkRefused):
        await site.link.call("remove_logs", site.incarnation, [own])
    assert not (
        await site.worker.heartbeat(site.incarnation, [key_of(site.one)], draining=False)
    ).alive
    with pytest.raises(LinkRefused):
        await site.link.call("write_log", site.incarnation, own, len(early), early)
    assert await caller.call("read_checkpoint", incarnation, new, 0) == b"newer"


@pytest.mark.parametrize(
    "forged",
    [
        encode_piece(CUT, 0, b"z"),
        encode_piece(CUT, 0, CUT_BODY.pack(1, 1, -(2**63))),
        encode_piece(CUT, 0, CUT_BODY.pack(1, 2**63, 1)),
        encode_piece(9, 0, b"z"),
    ],
    ids=["short", "less than nothing", "too much", "of no kind"],
)
async def test_output_ends_at_what_no_spawner_writes(site: Site, forged: bytes) -> None:
    own = str(own_path(Path(), site.batch_id, site.one.job_id, 1))
    data = encode_piece(STDOUT, 0, b"good") + forged + encode_piece(STDOUT, 0, b"behind")
    await site.link.call("write_log", site.incarnation, own, 0, data)
    await site.end(site.one, 10)
    assert (await site.log(site.one))[:2] == (200, b"good")
    base = f"/v1/batches/b{site.batch_id}"
    for path in (
        f"{base}/jobs/{site.one.job_id}/log?tail_lines=1",
        f"{base}/logs?find=good",
        f"/ui/batches/b{site.batch_id}/jobs/{site.one.job_id}/log",
    ):
        answer = await site.http.get(path, headers={"accept": "*/*"})
        assert answer.status_code < 500, (path, answer.text)


async def test_files_are_those_of_live_attempts_within_their_bounds(site: Site) -> None:
    key, strange = AttemptKey(*key_of(site.one)), AttemptKey(site.batch_id, 7, 1)
    files, kept = site.path / "files", LinkedCarrier(site.link)

    async def write(offset: int, data: bytes, whole: bytes, of: AttemptKey = key) -> int:
        file = LeftFile(len(whole), hashlib.sha256(whole).digest())
        n_bytes: int = await site.link.call("write_file", site.incarnation, of, offset, data, file)
        return n_bytes

    with pytest.raises(LinkRefused):
        await write(0, b"x", b"x", strange)
    assert await write(3, b"def", b"abcdef") == 0  # its begin is missing
    assert await write(0, b"abc", b"abcdef") == 3
    assert await write(0, b"abc", b"abcdef") == 3  # a repeat
    with pytest.raises(LinkFrameRefused):
        await write(3, b"xyz", b"abcdef")  # another digest
    with pytest.raises(LinkFrameRefused):
        await write(5, b"xyz", b"abcdef")  # behind its end
    too_long = LeftFile(1 << 62, bytes(32))
    with pytest.raises(LinkFrameRefused):
        await site.link.call("write_file", site.incarnation, key, 0, b"x", too_long)
    body = os.urandom(3 << 20)
    with (site.path / "left").open("w+b") as file:
        file.write(body)
        file.flush()
        held = HeldFile(file.fileno(), len(body), hashlib.sha256(body).digest())
        await asyncio.gather(*(kept.keep(key, held) for _ in range(3)))  # the same file thrice
        await kept.keep(key, held._replace(n_bytes=0, digest=hashlib.sha256().digest()))
    names = {one.name for one in files.rglob("*") if one.is_file()}
    assert names == {held.digest.hex(), hashlib.sha256().hexdigest()}


async def test_a_worker_names_only_files_that_its_job_leaves(site: Site) -> None:
    outputs = [{"from": "x", "to": "store://results/run/"}]
    store = {"url": "s3://bucket/a", "access": "write", "credentials": "env"}
    for name in ("results", "other"):
        assert (await site.http.put(f"/v1/stores/{name}", json=store)).status_code == 200
    await site.submit(1, outputs=outputs)
    (one,) = await site.worker.claim_jobs(site.incarnation, claim_of(1))
    key, good = AttemptKey(*key_of(one)), KeptFile("out/x", 3, hashlib.sha256(b"abc").digest())

    async def record(*files: KeptFile) -> bool:
        return await site.worker.record_files(
            site.incarnation, key, files, staging_ms=0, storing_ms=0
        )

    def at(address: str, path: str | None = None) -> KeptFile:
        return KeptFile(address if path is None else path, 3, bytes(32), address)

    for wrong in (
        at("nonsense"),
        at("store://other/x"),
        at("store://results/elsewhere/x"),
        at("store://results/run/../x"),
        at("store://results/run/x", "name"),
        msgspec.structs.replace(good, path="../x"),
        msgspec.structs.replace(good, path="/x"),
        msgspec.structs.replace(good, digest=b"short"),
        msgspec.structs.replace(good, n_bytes=-1),
        msgspec.structs.replace(good, n_bytes=1 << 62),
    ):
        with pytest.raises(LinkFrameRefused):
            await record(good, wrong)
    with pytest.raises(LinkFrameRefused):
        await record(good)  # it was not brought
    with (site.path / "x").open("w+b") as file:
        file.write(b"abc")
        file.flush()
        await LinkedCarrier(site.link).keep(key, HeldFile(file.fileno(), 3, good.digest))
    assert await record(good, at("store://results/run/x"))
    stranger = AttemptKey(site.batch_id, 7, 1)
    assert not await site.worker.record_files(
        site.incarnation, stranger, [at("nonsense")], staging_ms=0, storing_ms=0
    )
