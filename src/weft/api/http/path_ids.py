"""Ids in paths: each function returns the one that a request names.

All raise `BadId`, which says what would have been right.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from weft.api.calls import path_ids as ids
from weft.api.calls.path_ids import PathId, path_id_of
from weft.api.http.requests import AnyRequest, services_of


def _reader(kind: object) -> Callable[[AnyRequest], Any]:
    one = path_id_of(kind)
    assert one is not None, kind
    return lambda request: one.parse(request.path_params[one.name], services_of(request).settings)


PATH_IDS: Final[Mapping[str, PathId]] = {
    path_id.name: path_id for kind in reversed(vars(ids).values()) if (path_id := path_id_of(kind))
}
"""By name; of two kinds with one name the first, unless a call says which it has."""
batch_id_of: Final[Callable[[AnyRequest], ids.BatchId]] = _reader(ids.BatchId)
job_id_of: Final[Callable[[AnyRequest], ids.JobId]] = _reader(ids.JobId)
attempt_of: Final[Callable[[AnyRequest], int]] = _reader(ids.AttemptNumber)
update_id_of: Final[Callable[[AnyRequest], ids.UpdateId]] = _reader(ids.UpdateId)
group_of: Final[Callable[[AnyRequest], ids.GroupId]] = _reader(ids.GroupId)
condition_id_of: Final[Callable[[AnyRequest], int]] = _reader(ids.ConditionId)
operation_id_of: Final[Callable[[AnyRequest], int]] = _reader(ids.OperationId)
session_id_of: Final[Callable[[AnyRequest], int]] = _reader(ids.SessionId)
part_of: Final[Callable[[AnyRequest], int]] = _reader(ids.PartNumber)
digest_of: Final[Callable[[AnyRequest], str]] = _reader(ids.PayloadDigest)
project_of: Final[Callable[[AnyRequest], str]] = _reader(ids.ProjectName)
worker_of: Final[Callable[[AnyRequest], str]] = _reader(ids.WorkerName)
user_of: Final[Callable[[AnyRequest], str]] = _reader(ids.UserName)
queue_of: Final[Callable[[AnyRequest], str]] = _reader(ids.QueueName)
setup_of: Final[Callable[[AnyRequest], str]] = _reader(ids.SetupName)
source_of: Final[Callable[[AnyRequest], str]] = _reader(ids.SourceName)
pool_of: Final[Callable[[AnyRequest], str]] = _reader(ids.PoolName)
