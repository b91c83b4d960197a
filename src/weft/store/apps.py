"""Applications, in the api's store."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.ports.store.submitted import NewApp
from weft.store.database import StorePart
from weft.store.declared import calls, documents, nothing, parts, records, user_id, value
from weft.wire.payload import PART_BYTES


class Apps(StorePart):
    """The applications of a tenant, and their packed folders, in parts."""

    @calls(nothing, user_id=user_id)
    async def add_app_part(
        self, caller: Caller, digest: bytes, part: int, body: bytes, *, n_bytes: int
    ) -> None:
        """Keep a part of a folder of `n_bytes`; one that is there stays. Raise `QuotaExceeded`."""

    @calls(
        lambda rows: (rows[0]["n_bytes"], rows[0]["body"]) if rows else None,
        digest="of_digest",
        part="of_part",
    )
    async def read_app_part(
        self, caller: Caller, digest: bytes, part: int
    ) -> tuple[int, bytes] | None:
        """Return the length of a folder, and this part of it; None: there is no such part."""

    @calls(
        value,
        user_id=user_id,
        part_bytes=lambda: PART_BYTES,
        **parts(
            "new",
            "for_user",
            of_name="name",
            of_digest="digest",
            of_bytes="n_bytes",
            of_description="description",
        ),
    )
    async def save_app(self, caller: Caller, new: NewApp, *, apps_max: int) -> Row:
        """Make a folder what new jobs of this application get; return its document, in which
        `changed` says whether it was another one. Raise `UserNotFound`, `TooManyApps`,
        `AppIncomplete`: then nothing changed.
        """

    @calls(records, user_id=user_id)
    async def find_apps(self, caller: Caller, names: Sequence[str]) -> Sequence[Row]:
        """Return `name`, `revision_id`, `digest` and `description` of those the caller may run."""

    @calls(documents, user_id=user_id)
    async def list_apps(self, caller: Caller, *, sees_all: bool) -> Sequence[Row]:
        """Return the applications that the caller may run, or all of the tenant."""

    @calls(value, name="of_name", user_id=user_id)
    async def get_app(self, caller: Caller, name: str, *, sees_all: bool) -> Row:
        """Return an application with its description. Raise `AppNotFound`."""

    @calls(nothing, name="of_name")
    async def remove_app(self, caller: Caller, name: str, *, for_user: str | None) -> None:
        """Forget an application; jobs that have it go on. Raise `AppNotFound`, `UserNotFound`."""
