"""Whose jobs are, which never changes: their batch says it."""

from collections import OrderedDict
from typing import Final

from weft.core.states import AttemptKey
from weft.ports.file_store import FileRefused
from weft.ports.patience import until_answered
from weft.ports.store import JobUser, WorkerStore

_BATCHES_MAX: Final = 10_000


class JobTenants:
    """Finds and remembers them."""

    def __init__(self, store: WorkerStore) -> None:
        self._store = store
        self._known: OrderedDict[int, JobUser] = OrderedDict()
        """By batch."""

    async def id_of(self, key: AttemptKey) -> int:
        """Return the tenant of a job. Raise `FileRefused` if the job is gone."""
        return (await self._find(key)).tenant_id

    async def name_of(self, key: AttemptKey) -> str:
        """Return the name of the tenant of a job; empty: the job is gone."""
        try:
            return (await self._find(key)).tenant
        except FileRefused:
            return ""

    async def _find(self, key: AttemptKey) -> JobUser:
        found = self._known.get(key.batch_id)
        if found is None:
            job = key.batch_id, key.job_id
            users = await until_answered(lambda: self._store.list_job_users([job]))
            if not users:
                raise FileRefused("its job is gone")
            found = self._known[key.batch_id] = users[0]
            if len(self._known) > _BATCHES_MAX:
                self._known.popitem(last=False)
        return found
