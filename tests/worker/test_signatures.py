"""A worker calls functions only if the api has signed them for the owner of their batch."""

import os
import pickle
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest

from weft.core.states import Reason
from weft.plugins.executors.function.executor import FunctionExecutor
from weft.wire.sealed import SecretKeys, new_key, parse_keys
from weft.wire.signed import CHANGED_VARIABLES, CHUNK, NotSigned, Signer, sign, signer_of
from weft.wire.spec import FunctionSpec, JobSpec, encode_chunk
from worker.fake_store import FakeStore
from worker.worker_process import Worker

KEYS, OTHER_KEYS = SecretKeys([bytes(32)]), SecretKeys(parse_keys(new_key()))
OWNER = Signer(1, 1)
NO_ARGUMENTS = pickle.dumps(((), {}))
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


class Marking:
    """What makes a directory when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (self._path,)


def brings(mark: Path) -> JobSpec:
    """Return a job with a function whose mark shows that it was unpickled."""
    function = FunctionSpec(
        pickle=pickle.dumps(Marking(mark)), arguments=NO_ARGUMENTS, python=PYTHON
    )
    return JobSpec(executor="function", function=function)


def passes(mark: Path) -> JobSpec:
    """Return a job with such arguments, for a function by its name."""
    function = FunctionSpec(call="math:hypot", arguments=pickle.dumps(Marking(mark)))
    return JobSpec(executor="function", function=function)


@pytest.fixture
async def worker(short_path: Path) -> AsyncIterator[Worker]:
    one = Worker(short_path, FakeStore())
    one.executors["function"] = FunctionExecutor()
    async with one.running():
        yield one


def changed(body: bytes) -> bytes:
    """Return another chunk with the signature of this one."""
    other = encode_chunk([JobSpec(executor="function", function=FunctionSpec(call="os:getpid"))])
    return other + sign(CHUNK, body, OWNER, KEYS)[len(body) :]


WRONG: dict[str, tuple[Callable[[bytes], bytes], Reason, str]] = {
    "missing": (bytes, Reason.BAD_SPEC, "it has no signature"),
    "of another chunk": (changed, Reason.BAD_SPEC, "its signature is wrong"),
    "for another user": (
        partial(sign, CHUNK, signer=Signer(1, 2), keys=KEYS),
        Reason.BAD_SPEC,
        "for another user",
    ),
    "for another tenant": (
        partial(sign, CHUNK, signer=Signer(2, 1), keys=KEYS),
        Reason.BAD_SPEC,
        "for another user",
    ),
    "of something else": (
        partial(sign, CHANGED_VARIABLES, signer=OWNER, keys=KEYS),
        Reason.BAD_SPEC,
        "is wrong",
    ),
    "with an unknown key": (
        partial(sign, CHUNK, signer=OWNER, keys=OTHER_KEYS),
        Reason.SYSTEM,
        "on this worker",
    ),
}


@pytest.mark.parametrize("made", [brings, passes])
async def test_signed_function_is_unpickled_and_no_other(
    worker: Worker, tmp_path: Path, made: Callable[[Path], JobSpec]
) -> None:
    store, signed = worker.store, worker.store.sign
    for name, (wrong, _, _) in WRONG.items():
        store.sign = wrong
        store.submit(made(tmp_path / name))
        await store.until(len(store.jobs))
    assert list(tmp_path.iterdir()) == []
    store.sign = signed
    store.submit(made(tmp_path / "signed"))
    *refused, _ = await store.until(len(store.jobs))

    assert [one.name for one in tmp_path.iterdir()] == ["signed"]
    for report, (_, reason, why) in zip(refused, WRONG.values(), strict=True):
        assert (report.reason, report.start_age_us) == (reason, None)
        assert why in report.message


async def test_function_of_another_job_is_checked_too(worker: Worker, tmp_path: Path) -> None:
    """A signed call of a function that nobody has signed."""
    store, signed = worker.store, worker.store.sign
    calls = JobSpec(executor="function", function=FunctionSpec(arguments=NO_ARGUMENTS), shares=1)
    unsigned = encode_chunk([brings(tmp_path / "mark")])
    store.sign = lambda body: body if body == unsigned else signed(body)
    store.submit(brings(tmp_path / "mark"), calls)
    reports = await store.until(2)

    assert [one.reason for one in reports] == [Reason.BAD_SPEC] * 2
    assert list(tmp_path.iterdir()) == []


async def test_functions_of_the_previous_release_may_be_allowed(
    worker: Worker, tmp_path: Path
) -> None:
    await worker.stop()
    worker.unsigned_functions, worker.store.sign = True, bytes
    await worker.start()
    worker.store.submit(brings(tmp_path / "mark"))
    await worker.store.until(1)

    assert (tmp_path / "mark").exists()


def test_signature_is_of_one_tenant_user_kind_and_text() -> None:
    signed = sign(CHUNK, b"text", OWNER, KEYS)

    assert signer_of(CHUNK, signed, SecretKeys([*parse_keys(new_key()), bytes(32)])) == OWNER
    for at in range(len(signed)):
        if not 4 <= at < 4 + 8:  # the id of the key: that one is not here
            with pytest.raises(NotSigned):
                signer_of(CHUNK, signed[:at] + bytes([signed[at] ^ 1]) + signed[at + 1 :], KEYS)
    with pytest.raises(NotSigned):
        signer_of(CHANGED_VARIABLES, signed, KEYS)
