"""What callers may do and name: only the owner of a batch adds functions to it, whatever others
were granted; secrets, stores and what the tenant allows must be there. What a caller pickled is
signed, so that a worker calls it for this user and nobody else (ADR 60).
"""

import base64
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import msgspec

from weft.core.access.allowed import why_not_allowed
from weft.core.errors import Forbidden, InvalidValue, SecretKeyMissing
from weft.core.files.file_paths import WrongPath, in_store, split_store
from weft.ports.store import Caller, JobRows
from weft.submission.services import Draft, SubmissionServices
from weft.wire.documents.engines import choices_of
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


async def check_secrets(draft: Draft) -> None:
    """Note which jobs name secrets that the caller does not have. Raise `Forbidden` for jobs of
    a batch of somebody else, which would get the secrets of that user.
    """
    uses = [
        (f"/jobs/{index}/secrets/{n}", use)
        for index, job in enumerate(draft.rare)
        for n, use in enumerate(job.secrets or ())
    ]
    if not uses:
        return
    services, caller = draft.services, draft.caller
    if draft.context.batch_id is not None:
        await require_owner(
            services,
            caller,
            draft.context.batch_id,
            "add jobs with secrets to it",
            because=", whose secrets its jobs get.",
            hint="Create a batch of your own for them.",
        )
    known = {secret["name"] for secret in await services.store.list_secrets(caller)}
    for at, use in uses:
        if use.name not in known:
            message = f"you have no secret {use.name!r}; `weft secret set {use.name}` makes it"
            draft.problems.add(InvalidValue, f"{at}/name", message)


async def check_stores(draft: Draft) -> None:
    """Note which jobs name stores that the tenant does not have, or that are to be read only."""
    uses = [
        (f"/jobs/{index}/{field}/{n}", address, field == "outputs")
        for index, job in enumerate(draft.rare)
        for field, addresses in (
            ("inputs", [file.from_ for file in job.inputs or ()]),
            ("outputs", [file.to or "" for file in job.outputs or ()]),
        )
        for n, address in enumerate(addresses)
        if in_store(address)
    ]
    if not uses:
        return
    stores = await draft.services.store.list_stores(draft.caller)
    access = {store["name"]: store["access"] for store in stores}
    for at, text, is_written in uses:
        try:
            name, _ = split_store(text)
        except WrongPath:
            continue  # told where its form is checked
        if name not in access:
            message = f"there is no store {name!r}; `weft store ls` lists them"
            draft.problems.add(InvalidValue, at, message)
        elif is_written and access[name] != "write":
            draft.problems.add(InvalidValue, at, f"nothing is written to store {name!r}")


async def check_allowed(draft: Draft) -> None:
    """Note which jobs choose images and engines that their tenant does not allow.

    Workers and gateways have lists of their own, which hold for all tenants; and a worker asks for
    the tenant's again before a job leaves, because they may have changed.
    """
    choices = [
        (f"/jobs/{index}/{where}", kind, value)
        for index, job in enumerate(draft.rare)
        for where, kind, value in choices_of(job.container, job.engine)
    ]
    if not choices:
        return
    allowed = await draft.services.store.tenant_allowed(draft.caller)
    for at, kind, value in choices:
        if (why := why_not_allowed(allowed, kind, value)) is not None:
            draft.problems.add(InvalidValue, at, why)
