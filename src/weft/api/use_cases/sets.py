"""Sets of jobs, filled by hand or by a query."""

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
from weft.submission.translation.check import check_attributes
from weft.submission.translation.context import refuse_too_many
from weft.submission.translation.groups import check_callback, check_set_name
from weft.wire.answers.sets import MembersAdded
from weft.wire.documents.groups import GroupDocument
from weft.wire.documents.sets import MembersDocument, QuerySetDocument


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
    new = new_set(document, services.settings)
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


def new_set(document: GroupDocument | QuerySetDocument, settings: Settings) -> NewSet:
    """Return what is made of a document. Raise `InvalidValue` if something in it is wrong."""
    problems = Problems()
    if document.name is not None:
        check_set_name(document.name, settings, problems, "/name")
    elif isinstance(document, GroupDocument):
        problems.add(InvalidValue, "", "a group has a path in the tree or a name")
    check_attributes(document.attributes, settings, problems, "/attributes")
    check_callback(document.callback, settings, problems, "/callback")
    problems.raise_any()
    return alike(NewSet, document)
