"""What foreign programs are told of jobs, and what becomes of their answers (ADR 116)."""

from collections.abc import Mapping, Sequence

from weft.core.settling import settle_each
from weft.core.states import Reason
from weft.ports.store import DueOffer, OfferEnd
from weft.store import DriverStore
from weft.wire.foreign_messages import Answer, beyond_command, foreign_job
from weft.wire.spec import JobSpec, decode_chunk


async def record(
    store: DriverStore, epoch: int, transport: str, tenant: str, answers: Sequence[Answer]
) -> Sequence[str]:
    """Let answers count; return of each `runs`, `ended`, `settled` or `not_now`: ask again."""
    words = list(
        await store.start_answered(
            epoch, transport, tenant, [(answer.offer_id, answer.fence) for answer in answers]
        )
    )
    ended = [n for n, one in enumerate(answers) if one.is_ended and words[n] == "runs"]
    if ended:
        ends = [
            OfferEnd(one.offer_id, one.fence, one.reason, one.exit_code, one.message)
            for one in (answers[n] for n in ended)
        ]
        found = await store.end_answered(epoch, transport, tenant, ends)
        for n, word in zip(ended, found, strict=True):
            words[n] = word
    return words


async def bodies_of(
    store: DriverStore, epoch: int, offers: Sequence[DueOffer]
) -> Mapping[int, bytes]:
    """Return the messages of offers to foreign programs, by offer. A job that needs more than a
    command ends here.
    """
    foreign = [one for one in offers if one.fence is not None and one.spec_first is not None]
    if not foreign:
        return {}
    found: dict[int, bytes] = {}

    async def make(some: Sequence[DueOffer]) -> None:
        await _add_bodies(store, epoch, some, found)

    async def end(one: DueOffer, error: Exception) -> None:
        await _refuse(store, epoch, one, Reason.SYSTEM, f"its message cannot be made: {error!r}")

    await settle_each(foreign, make, end)
    return found


async def _add_bodies(
    store: DriverStore, epoch: int, offers: Sequence[DueOffer], found: dict[int, bytes]
) -> None:
    keys = sorted({(offer.batch_id, offer.spec_first or 0) for offer in offers})
    chunks = await store.get_chunks([key[0] for key in keys], [key[1] for key in keys])
    specs = {key: decode_chunk(body) for key, body in chunks.items()}
    for offer in offers:
        assert offer.fence is not None
        assert offer.until is not None
        spec = _spec_of(specs, offer)
        beyond = "command" if spec is None else beyond_command(spec)
        if spec is not None and beyond is None:
            found[offer.offer_id] = foreign_job(
                offer.tenant,
                offer.batch_id,
                offer.job_id,
                (offer.offer_id, offer.fence),
                offer.until,
                spec,
                offer.trace_id,
            )
            continue
        message = f"foreign programs get a command and nothing else: this job has {beyond}"
        if beyond == "command":
            message = "foreign programs run commands: this job has none"
        await _refuse(store, epoch, offer, Reason.BAD_SPEC, message)


async def _refuse(
    store: DriverStore, epoch: int, one: DueOffer, reason: Reason, message: str
) -> None:
    assert one.fence is not None
    answer = Answer(one.offer_id, one.fence, True, reason, None, message)  # noqa: FBT003
    await record(store, epoch, one.transport, one.tenant, [answer])


def _spec_of(
    chunks: Mapping[tuple[int, int], Sequence[JobSpec]], offer: DueOffer
) -> JobSpec | None:
    first = offer.spec_first or 0
    specs, index = chunks.get((offer.batch_id, first), ()), offer.job_id - first
    return specs[index] if index < len(specs) else None
