"""The calls of the api about applications."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from weft.ports.store.callers import Caller, Row


@dataclass(frozen=True, kw_only=True)
class NewApp:
    """An application whose parts are there."""

    name: str
    for_user: str | None
    """The user who may run it; None: everybody in the tenant."""
    digest: bytes
    n_bytes: int
    description: dict[str, Any]


class AppStore(Protocol):
    """The applications of a tenant, and their packed folders, in parts."""

    async def add_app_part(
        self, caller: Caller, digest: bytes, part: int, body: bytes, *, n_bytes: int
    ) -> None:
        """Keep a part of a folder of `n_bytes`; one that is there stays. Raise `QuotaExceeded`."""

    async def read_app_part(
        self, caller: Caller, digest: bytes, part: int
    ) -> tuple[int, bytes] | None:
        """Return the length of a folder, and this part of it; None: there is no such part."""

    async def save_app(self, caller: Caller, new: NewApp, *, apps_max: int) -> Row:
        """Make a folder what new jobs of this application get; return its document, in which
        `changed` says whether it was another one. Raise `UserNotFound`, `TooManyApps`,
        `AppIncomplete`: then nothing changed.
        """

    async def find_apps(self, caller: Caller, names: Sequence[str]) -> Sequence[Row]:
        """Return `name`, `revision_id`, `digest` and `description` of those that the caller may
        run.
        """

    async def list_apps(self, caller: Caller, *, sees_all: bool) -> Sequence[Row]:
        """Return the applications that the caller may run, or all of the tenant."""

    async def get_app(self, caller: Caller, name: str, *, sees_all: bool) -> Row:
        """Return an application with its description. Raise `AppNotFound`."""

    async def remove_app(self, caller: Caller, name: str, *, for_user: str | None) -> None:
        """Forget an application; jobs that have it go on. Raise `AppNotFound`, `UserNotFound`."""
