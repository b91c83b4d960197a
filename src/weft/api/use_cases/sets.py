"""Groups by themselves: create one, put jobs into a set, let a query fill a set."""

from weft.api.calls.call import call
from weft.api.calls.path_ids import BatchId, GroupId
from weft.api.services import Services
from weft.api.use_cases.read import find_group_id, parse
from weft.core.access.rights import Right
from weft.core.alike import alike
from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.core.query import Subject
from weft.ports.store import Caller, NewSet, Origin
from weft.settings import Settings
from weft.submission.services import Answer
from weft.submission.submit import create_group as submit_group
from weft.submission.translation.check import check_attributes
from weft.submission.translation.context import refuse_too_many
from weft.submission.translation.groups import check_callback, check_set_name
from weft.wire.answers.sets import MembersAdded
from weft.wire.documents.groups import GroupDocument
from weft.wire.documents.sets import MembersDocument, QuerySetDocument


async def create_group(
    services: Services, caller: Caller, batch_id: int, document: GroupDocument, origin: Origin
) -> tuple[Answer, bool]:
    """Create a set, or a group of the tree; return its document and whether it is new."""
    group: int | str
    if document.path is not None:
        group = document.path
        is_new = await submit_group(services, caller, batch_id, document, origin)
    else:
        new = _new_set(document, services.settings)
        group, is_new = await services.store.create_set(caller, batch_id, new)
    return dict(await services.store.get_group(caller, batch_id, group)), is_new


async def fill_set_by_query(
    services: Services,
    caller: Caller,
    batch_id: int,
    document: QuerySetDocument,
    origin: Origin,
    *,
    query: str,
    within: int | str | None,
) -> Answer:
    """Begin to fill a new set with the jobs that match; return the operation.

    `within`: only jobs of this group.
    """
    parse(query, Subject.JOBS, services.settings)  # refuses a wrong query now
    new = _new_set(document, services.settings)
    within_group = None
    if within is not None:
        within_group = await find_group_id(services, caller, batch_id, within)
    operation_id = await services.store.create_query_set(
        caller, batch_id, new, origin, query=query, within_group=within_group
    )
    return dict(await services.store.get_operation(caller, operation_id))


@call("POST /v1/batches/{b}/groups/{g}/members", Right.WRITE, MembersAdded, public=False)
async def add_members(
    services: Services,
    caller: Caller,
    batch_id: BatchId,
    group: GroupId,
    document: MembersDocument,
) -> Answer:
    """Put jobs of the batch into a set: all of the request or none. A repeat adds nothing."""
    refuse_too_many(
        "jobs", len(document.jobs), services.settings, hint="Send them in several requests."
    )
    group_id = await find_group_id(services, caller, batch_id, group)
    added = await services.store.add_members(caller, batch_id, group_id, document.jobs)
    row = await services.store.get_group(caller, batch_id, group_id)
    return {"batch_id": batch_id, "group_id": group_id, "added": added, "n_members": row["n_jobs"]}


def _new_set(document: GroupDocument | QuerySetDocument, settings: Settings) -> NewSet:
    problems = Problems()
    if document.name is not None:
        check_set_name(document.name, settings, problems, "/name")
    elif isinstance(document, GroupDocument):
        problems.add(InvalidValue, "", "a group has a path in the tree or a name")
    check_attributes(document.attributes, settings, problems, "/attributes")
    check_callback(document.callback, settings, problems, "/callback")
    problems.raise_any()
    return alike(NewSet, document)
