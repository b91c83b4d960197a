"""What only the owner of a batch may do, whatever others were granted. What a caller pickled is
signed, so that a worker calls it for this user and nobody else (ADR 60).
"""

import base64
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import msgspec

from weft.core.errors import Forbidden, SecretKeyMissing
from weft.ports.store import Caller, JobRows
from weft.submission.services import Draft, SubmissionServices
from weft.wire.signed import CHANGED_VARIABLES, CHUNK, Signer, sign, signature


async def require_owner(
    services: SubmissionServices,
    caller: Caller,
    batch_id: int,
    what: str,
    *,
    because: str,
    hint: str,
) -> None:
    """Raise `Forbidden` unless the caller owns the batch, `BatchNotFound` if they do not see it.

    `because` goes on after the name of the owner.
    """
    owner = await services.owner_of(caller, batch_id)
    if owner != caller.user_name:
        raise Forbidden(
            f"only the owner of batch b{batch_id} can {what}",
            detail=f"It belongs to {owner}{because}",
            hint=hint,
        )


async def refuse_functions_of_others(
    services: SubmissionServices, caller: Caller, batch_id: int
) -> None:
    """Refuse functions from anybody but the owner: those of a batch share processes."""
    await require_owner(
        services,
        caller,
        batch_id,
        "add functions to it",
        because="; functions of one batch run in the same processes.",
        hint="Create a batch of your own for them.",
    )


SIGNED_ENV: Final = "env_signature"
"""Beside `env` of the changes of a resubmission."""


def sign_functions(draft: Draft, rows: JobRows) -> None:
    """Sign the specs if any job calls a function: one signature for each chunk,
    not for each job. Raise `SecretKeyMissing`.
    """
    if not any(job.function is not None for job in draft.rare):
        return
    keys, signer = draft.services.secret_keys(), _signer(draft.caller)
    rows.chunk_body = [sign(CHUNK, body, signer, keys) for body in rows.chunk_body]


def signed_variables(
    services: SubmissionServices, caller: Caller, env: Mapping[str, str]
) -> Mapping[str, str]:
    """Return what says that the caller wants these variables for copies of their jobs: nothing if
    there is no key, without which no job calls a function.
    """
    body = msgspec.json.encode(env, order="sorted")
    with suppress(SecretKeyMissing):
        found = signature(CHANGED_VARIABLES, body, _signer(caller), services.secret_keys())
        return {SIGNED_ENV: base64.b64encode(found).decode()}
    return {}


def _signer(caller: Caller) -> Signer:
    return Signer(caller.tenant_id, caller.user_id)
