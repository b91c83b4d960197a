"""The client's calls about tenants."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from weft.client.api import Api
from weft.client.http.listing import Document


class TenantCalls:
    """Methods for administrators of the site, and about the own tenant for those of a tenant."""

    if TYPE_CHECKING:
        api: Api

    async def import_jobs(
        self, door: str, jobs: Sequence[Document], *, check: bool = False
    ) -> Document:
        """Take over jobs that have ended in another system, as `weft import` does; return how many
        there are of each, `n_new, n_known`. To repeat it is safe. If one job is wrong, none is
        taken over. For administrators of the tenant. Raise `InvalidValue`, `RightMissing`.

        Args:
            door: The door that will show them, by its name.
            jobs: `{"id": …, "user": …, "name": …, "created_at": …, "document": {…}}`, the document
                in the words of the door.
            check: Only look at them, and change nothing.
        """
        return await self.api.import_jobs(door, jobs, check=check)

    async def set_tenant(
        self,
        name: str,
        *,
        on_user_removal: Literal["finish", "cancel"] | None = None,
        allowed: Mapping[str, Sequence[str] | None] | None = None,
        output_keep_s: int | None = None,
        output_keep_bytes: int | None = None,
    ) -> Document:
        """Change what holds in a tenant, and return it. Raise `RightMissing`, `TenantNotFound`.

        Args:
            name: Name of the tenant.
            on_user_removal: Whether batches of users who are removed go on to their end or are
                cancelled, where `remove_user` does not say it.
            allowed: What its jobs may choose, `{"image": ["docker://registry.example/*"],
                "partition": ["long"]}`; None for a kind: whatever workers and gateways allow.
            output_keep_s: Seconds after the end of a batch for which its output and files are
                kept; 0: as long as the batch.
            output_keep_bytes: What the tenant may store before the oldest output and files are
                removed; 0: any number of bytes.
        """
        changes = {
            "on_user_removal": on_user_removal, "allowed": allowed, "output_keep_s": output_keep_s,
            "output_keep_bytes": output_keep_bytes,
        }  # fmt: skip
        given = {key: value for key, value in changes.items() if value is not None}
        return await self.api.set_tenant(name, given)
