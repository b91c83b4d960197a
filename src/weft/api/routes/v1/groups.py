"""`/v1/batches/{b}/groups`: create, fill, list, get, edit, cancel, hold, release.

A group is named by its number or by its path, with `/` written %2F; a set also by its name.
"""

from weft.api.calls.path_ids import parse_group
from weft.api.http.parameters import batch_id_of
from weft.api.http.problem_documents import created, reply
from weft.api.http.requests import AnyRequest, read_submission
from weft.api.http.routing import Response, post
from weft.api.use_cases import sets
from weft.core.access.rights import Right
from weft.wire.answers.batches import Group, Operation
from weft.wire.documents.batches import GroupDocument, QuerySetDocument


@post(
    "/v1/batches/{b:str}/groups",
    Right.WRITE,
    opt={
        "answer": Group,
        "accepted": Operation,
        "body": GroupDocument,
        "query": ("q", "group"),
        "creates": True,
    },
)
async def create_group(request: AnyRequest) -> Response[bytes]:
    """Create a group of the tree, with a path, or a set, with a name. With `q` the set is filled
    with the existing jobs that match, of `group` if given: the reply is 202 and the operation that
    fills it.
    """
    query = request.query
    services, caller, batch_id = request.services, request.caller, batch_id_of(request)
    text, within = query.text("q"), query.text("group")
    if text is None:
        document, origin = await read_submission(request, GroupDocument)
        answer, is_new = await sets.create_group(services, caller, batch_id, document, origin)
        return created(answer, is_new=is_new)
    set_document, origin = await read_submission(request, QuerySetDocument, text, within)
    operation = await sets.fill_set_by_query(
        services,
        caller,
        batch_id,
        set_document,
        origin,
        query=text,
        within=None if within is None else parse_group(within, services.settings),
    )
    return reply(operation, 202)
