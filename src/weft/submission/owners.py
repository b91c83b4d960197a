"""What only the owner of a batch may do, whatever others were granted."""

from weft.core.errors import Forbidden
from weft.ports.store import Caller
from weft.submission.services import SubmissionServices


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
