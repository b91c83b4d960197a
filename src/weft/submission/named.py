"""What jobs name must be there for their caller: secrets, stores, and what the tenant allows."""

from weft.core.access.allowed import why_not_allowed
from weft.core.errors import InvalidValue
from weft.core.files.file_paths import WrongPath, in_store, split_store
from weft.submission.owners import require_owner
from weft.submission.services import Draft
from weft.wire.documents.containers import choices_of


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
