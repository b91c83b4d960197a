"""What only the owner of a batch may do, whatever others were granted."""

from weft.api.services import Services
from weft.core.errors import Forbidden
from weft.ports.store import Caller


async def require_owner(
    services: Services, caller: Caller, batch_id: int, what: str, *, because: str, hint: str
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
