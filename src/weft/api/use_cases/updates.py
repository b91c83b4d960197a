"""Submissions, which stand below the api: of a batch at once, or in several requests."""

from functools import partial
from typing import Final

from weft.api.calls.call import call
from weft.api.calls.path_ids import BatchId, UpdateId
from weft.core.access.rights import Right
from weft.submission import submit
from weft.wire.answers.batches import BatchCreated
from weft.wire.answers.updates import GroupsAdded, JobsAdded, Update, UpdateCreated

_UPDATES: Final = "/v1/batches/{b}/updates"
_UPDATE: Final = f"{_UPDATES}/{{u}}"
_PART: Final = {"unrecorded": True}

_call = partial(call, client="", module=__name__)
_of_batch = partial(_call, batch_id=BatchId)
_of_update = partial(_of_batch, update_id=UpdateId)

_call("POST /v1/batches", Right.WRITE, BatchCreated)(submit.create_batch)
_of_batch(f"POST {_UPDATES}", Right.WRITE, UpdateCreated)(submit.create_update)
_of_update(f"GET {_UPDATE}", Right.READ, Update)(submit.get_update)
_of_update(f"POST {_UPDATE}/jobs", Right.WRITE, JobsAdded, marks=_PART)(submit.add_jobs)
_of_update(
    f"POST {_UPDATE}/groups",
    Right.WRITE,
    GroupsAdded,
    marks=_PART,
    client="add_groups",
    public=False,
    placed=2,
)(submit.add_groups)
_of_update(f"POST {_UPDATE}/commit", Right.WRITE, Update, client="commit_update", public=False)(
    submit.commit_update
)
