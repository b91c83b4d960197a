"""The secrets that jobs ask for: their caller has them, and owns the batch that gets them."""

from weft.core.errors import InvalidValue
from weft.submission.draft import Draft
from weft.submission.owners import require_owner


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
