"""Use cases of edits: a JSON merge patch of a batch, a group or a job."""

from collections.abc import Iterator
from contextlib import contextmanager

from litestar import Response
from msgspec import UNSET

from weft.api.http.replies import reply
from weft.api.http.requests import read_body
from weft.api.services import AnyRequest, caller_of, services_of, trace_id_of
from weft.api.translation.check import check_attributes, check_name
from weft.api.translation.groups import check_set_name
from weft.core.errors import FieldError, InvalidValue
from weft.core.problems import Problems
from weft.ports.store import EditLimits, Patch, Row
from weft.wire.documents import EditDocument

ROOT_GROUP = 0


class Edits:
    """One request of one caller."""

    def __init__(self, request: AnyRequest) -> None:
        self._request = request
        services = services_of(request)
        self._store = services.store
        self._settings = services.settings
        self._caller = caller_of(request)
        self._limits = EditLimits(
            attributes_max=self._settings.attributes_max,
            rename_groups_max=self._settings.rename_groups_max,
        )

    async def edit_batch(self, batch_id: int) -> Response[bytes]:
        """Edit a batch; answer with its document, or with the operation that goes on."""
        patch = await self._patch()
        operation = await self._edit_group(batch_id, ROOT_GROUP, patch)
        if operation is not None:
            return reply(operation, 202)
        return reply(await self._store.get_batch(self._caller, batch_id))

    async def edit_group(self, batch_id: int, group: int | str) -> Response[bytes]:
        """Edit a group; answer with its document, or with the operation that goes on."""
        patch = await self._patch()
        row = await self._store.get_group(self._caller, batch_id, group)
        group_id = int(row["group_id"])
        if group_id != ROOT_GROUP and "name" in patch:
            self._check_group_name(patch["name"], is_set=row["kind"] == "set")
        operation = await self._edit_group(batch_id, group_id, patch)
        if operation is not None:
            return reply(operation, 202)
        return reply(await self._store.get_group(self._caller, batch_id, group_id))

    async def edit_job(self, batch_id: int, job_id: int) -> Row:
        """Edit a job; return its document."""
        patch = await self._patch()
        with _pointing():
            await self._store.edit_job(
                self._caller, batch_id, job_id, patch=patch, limits=self._limits
            )
        return await self._store.get_job(self._caller, batch_id, job_id)

    async def _edit_group(self, batch_id: int, group_id: int, patch: Patch) -> Row | None:
        """Edit; with a priority return the operation that gives it to the jobs."""
        caller, limits = self._caller, self._limits
        with _pointing():
            if "priority" not in patch:
                await self._store.edit_group(
                    caller, batch_id, group_id, patch=patch, limits=limits
                )
                return None
            operation_id = await self._store.prioritize_group(
                caller, batch_id, group_id, patch=patch, limits=limits,
                trace_id=trace_id_of(self._request),
            )  # fmt: skip
        return await self._store.get_operation(caller, operation_id)

    async def _patch(self) -> Patch:
        """Read the patch; what it says must be right by itself."""
        document = (await read_body(self._request)).document(EditDocument)
        problems = Problems()
        patch: dict[str, object] = {}
        if document.name is not UNSET:
            patch["name"] = document.name
            check_name(document.name, self._settings, problems, "/name")
        if document.attributes is not UNSET:
            patch["attributes"] = document.attributes
            given = {k: v for k, v in (document.attributes or {}).items() if v is not None}
            check_attributes(given, self._settings, problems, "/attributes")
        if document.priority is not UNSET:
            patch["priority"] = document.priority
        problems.raise_any()
        return patch

    def _check_group_name(self, name: str | None, *, is_set: bool) -> None:
        problems = Problems()
        if name is None:
            problems.add(InvalidValue, "/name", "a group has a name")
        elif is_set:
            check_set_name(name, self._settings, problems, "/name")
        elif "/" in name:
            problems.add(InvalidValue, "/name", "a name holds no '/'")
        problems.raise_any()


@contextmanager
def _pointing() -> Iterator[None]:
    """Say at which field stands what only the database could know."""
    try:
        yield
    except InvalidValue as error:
        error.errors = (FieldError("/attributes", error.detail.rstrip(".")),)
        raise
