"""An agent gives jobs secrets and large arguments as it hands them over; none starts without."""

import hashlib
import stat
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from weft.core.errors import Internal, Unauthenticated, Unavailable, WeftError
from weft.core.states import AttemptKey, Reason
from weft.ports.runner import Assignment, GivenSecret
from weft.ports.store import StoredSecret, WorkerStore
from weft.wire.documents.secrets import SecretUse
from weft.wire.payload import PART_BYTES
from weft.wire.sealed import SecretKeys, SecretRow, new_key, parse_keys
from weft.wire.spec import SECRETS, FunctionSpec, JobSpec
from weft.worker.agent.parts import ArgumentFiles
from weft.worker.agent.specs import JobSecrets
from worker.fake_store import FakeStore
from worker.worker_process import Worker

KEYS = SecretKeys([bytes(32)])
DB = SecretUse("db", env="DB_PASSWORD")
PEM = SecretUse("tls", file="key.pem")


def sh(script: str, *uses: SecretUse) -> JobSpec:
    return JobSpec(
        ("/bin/sh", "-c", script),
        secrets=uses,
        requires=(SECRETS,),
        env={"DB_PASSWORD": "of the document"},
    )


def sealed(name: str, value: str) -> bytes:
    return KEYS.seal(value, SecretRow(1, 1, name))


@pytest.fixture
async def worker(short_path: Path) -> AsyncIterator[Worker]:
    one = Worker(short_path, FakeStore())
    one.store.secrets = {name: sealed(name, f"{name} \né") for name in ("db", "tls")}
    async with one.running():
        yield one


async def test_job_has_its_secrets(worker: Worker) -> None:
    script = 'echo "$DB_PASSWORD"; cd "$WEFT_SECRETS_DIR" && cat * && ls -l | cut -c1-10'
    worker.store.submit(sh(script, DB, PEM), JobSpec(("/bin/sh", "-c", "echo $DB_PASSWORD")))
    report, other = await worker.store.until(2)

    text = worker.output(report).decode()
    assert text.startswith("db \né\ntls \né")
    assert text.rstrip().endswith("-r--------")
    assert worker.output(other) == b"\n"


class Failing(FakeStore):
    error: Exception

    async def get_secrets(self, *_: object) -> Sequence[StoredSecret | None]:
        raise self.error


async def test_only_a_missing_key_is_the_affair_of_the_job() -> None:
    """A worker whose token was revoked reports nothing of its jobs: it ends."""
    store = Failing()
    store.error = Unauthenticated("the token was revoked")
    secrets = JobSecrets(cast("WorkerStore", store), 1, lambda: KEYS)
    with pytest.raises(Unauthenticated):
        await secrets.give([Assignment(AttemptKey(1, 1, 1), sh("true", DB), 100, 10, (1, 1))])


async def test_a_defect_of_the_store_ends_jobs_that_wait_for_secrets(short_path: Path) -> None:
    """Nobody would start them, nor give them to others while this worker lives."""
    store = Failing()
    store.error = Internal("a mistake")
    worker = Worker(short_path, store)
    await worker.start()
    worker.store.submit(sh("true", DB), sh("true", PEM))
    reports = await worker.store.until(2)
    await worker.end()

    assert {(one.reason, one.start_age_us) for one in reports} == {(Reason.SYSTEM, None)}
    assert "a mistake" in reports[0].message


@pytest.mark.parametrize(
    ("change", "reason", "why"),
    [
        ("removed", Reason.BAD_SPEC, "no secret 'db' any more"),
        ("moved", Reason.SYSTEM, "worker: it was changed or moved"),
        ("other key", Reason.SYSTEM, "on this worker: the key 66687aadf862bd77"),
    ],
)
async def test_job_without_its_secrets_does_not_start(
    worker: Worker, change: str, reason: Reason, why: str
) -> None:
    match change:
        case "removed":
            del worker.store.secrets["db"]
        case "moved":
            worker.store.secrets["db"] = worker.store.secrets["tls"]
        case "other key":
            worker.secret_keys = list(parse_keys(new_key()))
    worker.store.submit(sh("exit 0", PEM, DB))
    (report,) = await worker.store.until(1)

    assert (report.reason, report.start_age_us) == (reason, None)
    assert why in report.message


async def test_secrets_are_read_when_the_database_is_back(worker: Worker) -> None:
    worker.store.submit(*[sh('test -n "$DB_PASSWORD"', DB)] * 3)
    worker.store.is_away = True
    worker.store.is_away = False

    assert [one.reason for one in await worker.store.until(3)] == [None] * 3


def test_values_are_in_no_text_of_a_message() -> None:
    assert "swordfish" not in repr(GivenSecret(DB, "swordfish"))


DATA = bytes(PART_BYTES) + b"end"
KEY, OTHER = AttemptKey(1, 2, 3), AttemptKey(1, 2, 4)


class Parts:
    """A store that has one payload; the first question meets a database that is away."""

    def __init__(self, data: bytes = DATA) -> None:
        self.data = data
        self.is_away = True

    async def get_payload_part(
        self, batch_id: int, digest: bytes, part: int
    ) -> tuple[int, bytes] | None:
        if self.is_away:
            self.is_away = False
            raise Unavailable("the database is away")
        assert (batch_id, digest) == (1, hashlib.sha256(DATA).digest())
        body = self.data[(part - 1) * PART_BYTES : part * PART_BYTES]
        return (len(DATA), body) if body else None


def spec_with(**fields: Any) -> JobSpec:  # noqa: ANN401 (fields of any type)
    digest = hashlib.sha256(DATA).hexdigest()
    function = FunctionSpec(call="a:b", arguments=b"", arguments_digest=digest)
    return JobSpec(function=msgspec.structs.replace(function, **fields))


def files_in(root: Path, store: Parts | None = None) -> ArgumentFiles:
    return ArgumentFiles(cast("WorkerStore", store or Parts()), root / "arguments")


async def test_a_payload_becomes_a_private_file(tmp_path: Path) -> None:
    """A later agent adopts those of its attempts, and removes others."""
    files = files_in(tmp_path)
    spec = await files.fetch(KEY, spec_with())

    file = tmp_path / "arguments" / KEY.name
    assert spec == spec_with(arguments_file=str(file))
    assert file.read_bytes() == DATA
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    await files.fetch(OTHER, spec_with())
    later = files_in(tmp_path)
    later.adopt([KEY, AttemptKey(9, 9, 9)])
    assert list((tmp_path / "arguments").iterdir()) == [file]
    later.remove(OTHER)
    assert file.exists()
    later.remove(KEY)
    later.remove(KEY)
    assert not file.exists()


@pytest.mark.parametrize("data", [DATA[:-3], bytes(PART_BYTES) + b"END"])
async def test_what_is_not_whole_is_an_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(WeftError, match="arguments"):
        await files_in(tmp_path, Parts(data)).fetch(KEY, spec_with())
