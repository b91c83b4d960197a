"""Take payloads: the large arguments of functions, before the jobs that are called with them."""

from typing import Final

from weft.api.services import Answer, Services
from weft.api.use_cases.submit import refuse_functions_of_others
from weft.core.errors import InvalidParameter, PayloadTooLarge
from weft.ports.store import Caller
from weft.wire.payload import bytes_of_part, parts_of

BYTES_MAX: Final = 1 << 40
"""More than the setting may say."""


def check_size(services: Services, n_bytes: int) -> None:
    """Raise `PayloadTooLarge` for what the settings do not allow."""
    limit = services.settings.payload_bytes_max
    if n_bytes > limit:
        raise PayloadTooLarge(
            f"the arguments have {n_bytes} bytes",
            detail=f"At most {limit} bytes are kept (`payload_bytes_max`).",
            hint="Write them to a file that the workers see and pass its name, or raise the "
            "server's setting.",
        )


async def add_part(
    services: Services,
    caller: Caller,
    batch_id: int,
    digest: str,
    part: int,
    body: bytes,
    *,
    n_bytes: int,
) -> Answer:
    """Store a part of a payload of `n_bytes`. A repeat does nothing."""
    expected = bytes_of_part(part, n_bytes)
    if not expected or len(body) != expected:
        raise InvalidParameter(
            f"part {part} has the wrong size",
            detail=f"It has {len(body)} bytes; of {n_bytes} bytes it would have {expected}.",
            hint="Cut the payload into parts of 4 MiB; only the last one is shorter.",
        )
    await refuse_functions_of_others(services, caller, batch_id)
    await services.store.add_payload_part(
        caller, batch_id, bytes.fromhex(digest), part, body, n_bytes=n_bytes
    )
    return {"part": part, "n_parts": parts_of(n_bytes)}
