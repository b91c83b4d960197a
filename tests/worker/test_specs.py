"""The specs of claimed jobs, as the agent reads them."""

import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from weft.core.states import Reason
from weft.ports.function_signatures import Refused
from weft.ports.store import Claimed
from weft.wire.documents.containers import ContainerDocument
from weft.wire.documents.engines import EngineOptions
from weft.wire.sealed import SecretKeys
from weft.wire.spec import FunctionSpec, JobSpec, encode_chunk, pack_specs
from weft.worker.agent.specs import Signatures, Specs
from worker.fake_store import BATCH, FakeStore


def claimed(job_id: int, attempt: int) -> Claimed:
    return Claimed(
        batch_id=BATCH,
        job_id=job_id,
        attempt=attempt,
        cpu_m=1000,
        memory_mib=64,
        storage_mib=0,
        gpu=0,
        chunk_first=job_id,
    )


async def test_a_retry_has_the_time_limit_that_its_rules_lead_to() -> None:
    """The others, and later attempts of other jobs, have that of their spec."""
    store = FakeStore()
    store.submit(*(JobSpec(timeout_s=60) for _ in range(3)), JobSpec())
    store.limits_ms = {(BATCH, 1, 1): 1, (BATCH, 2, 2): 90_500, (BATCH, 4, 2): 1}
    asked = [claimed(1, 1), claimed(2, 2), claimed(3, 2), claimed(4, 2)]
    read = Specs(store, Signatures(store, SecretKeys)).read
    specs = await read(asked)
    first_again = await read([claimed(2, 1)])

    assert [one.timeout_s for one in specs if isinstance(one, JobSpec)] == [60, 90.5, 60, None]
    assert first_again == [JobSpec(timeout_s=60)]


async def test_specs_that_compress_well_do_not_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However little of them travels: 256 like ones, and one that is long."""
    kept = 1 << 20
    monkeypatch.setattr("weft.worker.agent.specs._KEPT_BYTES_MAX", kept)
    short, long = [JobSpec(command=("/bin/true",))] * 256, [JobSpec(command=("x" * 100_000,))]
    bodies = [encode_chunk(short), encode_chunk(long)]
    read = Specs(FakeStore(), Signatures(FakeStore(), SecretKeys)).read
    tracemalloc.start()
    try:
        for job_id in range(1, 101):
            await read([replace(claimed(job_id, 1), chunk=bodies[job_id % 2])])
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held < 2 * kept


async def test_a_chunk_is_read_again_when_the_key_of_its_signature_has_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, n_read = FakeStore(), 0
    spec = JobSpec(function=FunctionSpec(call="math:gcd"), executor="function")
    store.submit(spec)
    get_chunks, size = store.get_chunks, 11 * len(pack_specs([spec]))

    async def counted(*ids: Sequence[int]) -> Mapping[tuple[int, int], bytes]:
        nonlocal n_read
        n_read += 1
        return await get_chunks(*ids)

    monkeypatch.setattr(store, "get_chunks", counted)
    monkeypatch.setattr("weft.worker.agent.specs._KEYS_FRESH_S", 0)
    monkeypatch.setattr("weft.worker.agent.specs._KEPT_BYTES_MAX", size)  # for this chunk, once
    keys = SecretKeys()
    specs = Specs(store, Signatures(store, lambda: keys))
    (without,) = await specs.read([claimed(1, 1)])
    keys = SecretKeys([bytes(32)])
    later = [*await specs.read([claimed(1, 2)]), *await specs.read([claimed(1, 3)])]

    assert isinstance(without, Refused)
    assert without.reason == Reason.SYSTEM
    assert (later, n_read) == ([spec, spec], 2)


async def test_a_job_that_chooses_what_its_tenant_forbids_meanwhile_does_not_leave() -> None:
    """Jobs that choose nothing cost no question."""
    store, asked = FakeStore(), []
    box = ContainerDocument(image="docker://b/tools:1")
    engine = EngineOptions(partition="long", qos="high")
    store.submit(JobSpec(), JobSpec(container=box), JobSpec(engine=engine))
    list_choices = store.list_choices

    async def counted(batches: Sequence[int]) -> Mapping[int, Mapping[str, Sequence[str]]]:
        asked.append([*batches])
        return await list_choices(batches)

    store.list_choices = counted  # type: ignore[method-assign,assignment]
    read = Specs(store, Signatures(store, SecretKeys)).read
    everything = [claimed(number, 1) for number in (1, 2, 3)]
    assert not any(isinstance(one, Refused) for one in await read(everything))
    store.allowed[BATCH] = {"image": ["docker://a/*"], "partition": ["*"], "qos": []}
    _, boxed, chosen = await read(everything)
    await read(everything[:1])

    assert isinstance(boxed, Refused)
    assert isinstance(chosen, Refused)
    assert (boxed.reason, chosen.reason) == (Reason.BAD_SPEC,) * 2
    assert "does not allow its jobs the image docker://b/tools:1" in boxed.message
    assert "the qos high; allowed: none" in chosen.message
    assert asked == [[BATCH]] * 2
