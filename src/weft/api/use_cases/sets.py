"""Use cases of sets: make one, put jobs into it, let a query fill it."""

import hashlib

from weft.api.http.creating import Creating
from weft.api.http.path_ids import parse_group
from weft.api.http.queries import query_of
from weft.api.http.requests import Query
from weft.api.translation.check import check_attributes
from weft.api.translation.groups import check_callback, check_set_name
from weft.api.use_cases.submit import Answer, Submission
from weft.core.errors import FieldError, InvalidValue, TooManyJobs
from weft.core.problems import Problems
from weft.core.query import Subject
from weft.ports.store import NewSet
from weft.wire.documents import GroupDocument, MembersDocument, QuerySetDocument


class SetRequests:
    """One request of one caller, about a set."""

    def __init__(self, request: Creating) -> None:
        self._request = request
        self._store = request.services.store
        self._caller = request.caller
        self._settings = request.services.settings

    async def create(self, batch_id: int) -> tuple[Answer, bool]:
        """Create a set, or a group of the tree; return its document and whether it is new."""
        document = self._request.body.document(GroupDocument)
        if document.path is not None:
            group: int | str = document.path
            is_new = await Submission(self._request).create_group(batch_id, document)
        else:
            new = self._new_set(document, document.name)
            group, is_new = await self._store.create_set(self._caller, batch_id, new)
        return dict(await self._store.get_group(self._caller, batch_id, group)), is_new

    async def fill_by_query(self, batch_id: int, query: Query) -> Answer:
        """Begin to fill a set; return the document of the operation."""
        document = self._request.body.document(QuerySetDocument)
        query_of(query, Subject.JOBS, self._settings)  # only to refuse what makes no sense
        text, within = query.text("q") or "", query.text("group")
        operation_id = await self._store.create_query_set(
            self._caller,
            batch_id,
            self._new_set(document, document.name),
            query=text,
            within_group=None
            if within is None
            else await self._group_id(batch_id, parse_group(within, self._settings)),
            trace_id=self._request.trace_id,
            idempotency_key=self._request.key,
            digest=hashlib.sha256(
                repr((self._request.body.digest, text, within)).encode()
            ).digest(),
        )
        return dict(await self._store.get_operation(self._caller, operation_id))

    async def add_members(self, batch_id: int, group: int | str) -> Answer:
        """Put jobs into a set; return how many were not in it, and how many are in it now."""
        document = self._request.body.document(MembersDocument)
        limit = self._settings.bunch_jobs_max
        if len(document.jobs) > limit:
            message = f"{len(document.jobs)} jobs, at most {limit}"
            raise TooManyJobs(
                "the request has too many jobs",
                detail=f"It has {message}.",
                hint="Send them in several requests.",
                errors=[FieldError("/jobs", message)],
            )
        group_id = await self._group_id(batch_id, group)
        added = await self._store.add_members(self._caller, batch_id, group_id, document.jobs)
        row = await self._store.get_group(self._caller, batch_id, group_id)
        return {
            "batch_id": batch_id,
            "group_id": group_id,
            "added": added,
            "n_members": row["n_jobs"],
        }

    async def _group_id(self, batch_id: int, group: int | str) -> int:
        if isinstance(group, int):
            return group
        return int((await self._store.get_group(self._caller, batch_id, group))["group_id"])

    def _new_set(self, document: GroupDocument | QuerySetDocument, name: str | None) -> NewSet:
        problems = Problems()
        if name is not None:
            check_set_name(name, self._settings, problems, "/name")
        elif isinstance(document, GroupDocument):
            problems.add(InvalidValue, "", "a group has either a path in the tree or a name")
        check_attributes(document.attributes, self._settings, problems, "/attributes")
        check_callback(document.callback, self._settings, problems, "/callback")
        problems.raise_any()
        return NewSet(
            name=name,
            attributes=document.attributes,
            cancel_after_n_failures=document.cancel_after_n_failures,
            callback=document.callback,
        )
