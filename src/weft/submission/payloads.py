"""Take payloads: large arguments of functions and code, before the jobs that need them."""

from typing import Final

from weft.core.errors import InvalidParameter, InvalidValue, PayloadTooLarge
from weft.ports.store import Caller
from weft.submission.owners import refuse_functions_of_others
from weft.submission.services import Answer, Draft, SubmissionServices
from weft.submission.translation.functions import payloads_of
from weft.wire.payload import bytes_of_part, parts_of

BYTES_MAX: Final = 1 << 40
"""More than the setting may say."""


def check_size(services: SubmissionServices, n_bytes: int) -> None:
    """Raise `PayloadTooLarge` for what the settings do not allow."""
    limit = services.settings.payload_bytes_max
    if n_bytes > limit:
        raise PayloadTooLarge(
            f"the arguments or the code have {n_bytes} bytes",
            detail=f"At most {limit} bytes are kept (`payload_bytes_max`).",
            hint="Write them to a file that the workers see and pass its name, leave large data "
            "out of the folder, or raise the server's setting.",
        )


def check_part(part: int, body: bytes, *, n_bytes: int, what: str) -> None:
    """Raise `InvalidParameter` if a part has not its size. `what`: what has `n_bytes` in all."""
    expected = bytes_of_part(part, n_bytes)
    if not expected or len(body) != expected:
        raise InvalidParameter(
            f"part {part} has the wrong size",
            detail=f"It has {len(body)} bytes; of {n_bytes} bytes it would have {expected}.",
            hint=f"Cut the {what} into parts of 4 MiB; only the last one is shorter.",
        )


async def add_part(
    services: SubmissionServices,
    caller: Caller,
    batch_id: int,
    digest: str,
    part: int,
    body: bytes,
    *,
    n_bytes: int,
) -> Answer:
    """Store a part of a payload of `n_bytes`. A repeat does nothing."""
    check_part(part, body, n_bytes=n_bytes, what="payload")
    await refuse_functions_of_others(services, caller, batch_id)
    await services.store.add_payload_part(
        caller, batch_id, bytes.fromhex(digest), part, body, n_bytes=n_bytes
    )
    return {"part": part, "n_parts": parts_of(n_bytes)}


async def check_functions(draft: Draft) -> None:
    """Refuse programs of others, and note which jobs refer to a payload that is not there."""
    services, caller, batch_id = draft.services, draft.caller, draft.context.batch_id
    digest_at = payloads_of(draft.rare)
    if batch_id is not None and (digest_at or any(job.function for job in draft.rare)):
        await refuse_functions_of_others(services, caller, batch_id)
    missing = set(digest_at.values())
    if batch_id is not None and missing:
        digests = [bytes.fromhex(one) for one in sorted(missing)]
        found = await services.store.missing_payloads(caller, batch_id, digests)
        missing = {one.hex() for one in found}
    message = "the batch has no such payload; send all its parts first"
    if batch_id is None:
        message = (
            "a new batch has no payload: make an empty one, send it, then add the jobs. Schedules "
            "and lines cannot: use a `container` or an `app`, or `weft submit` from cron"
        )
    for pointer, digest in digest_at.items():
        if digest in missing:
            draft.problems.add(InvalidValue, pointer, message)
