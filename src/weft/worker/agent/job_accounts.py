"""The Unix accounts under which jobs run: that of the user who submitted the job (ADR 61)."""

import asyncio
import grp
import os
import pwd
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from weft.core.access.run_as import NamedTwice, User, account_of
from weft.core.states import AttemptKey, Reason
from weft.ports.file_store import FileRefused
from weft.ports.patience import until_answered
from weft.ports.runner import Assignment, Ended, never_started
from weft.ports.store import JobUser, WorkerStore
from weft.wire.spawner import Account

_FRESH_S: Final = 30.0
"""How long what the host says of an account is believed."""
_KEPT_S: Final = 600.0
"""How long an account is used that the host does not know any more: it says the same of all
accounts while a directory service is away.
"""


class _NoEntry(Exception):
    """The host does not know an account."""


class _Known(NamedTuple):
    fresh_until: float
    seen_at: float
    """When the host said so."""
    found: Account | str


class JobAccounts:
    """Find accounts. Those below `uid_min` belong to the system, and no job runs under them."""

    def __init__(
        self,
        store: WorkerStore,
        accounts: Mapping[User, str],
        *,
        uid_min: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._accounts = accounts
        self._uid_min = uid_min
        self._clock = clock
        self._known: dict[User, _Known] = {}
        self._home_tenant: str | None = None

    async def give(self, some: Sequence[Assignment | Ended]) -> Sequence[Assignment | Ended]:
        """Return each attempt with its account, or how it ends without one."""
        jobs = {(one.key.batch_id, one.key.job_id) for one in some if isinstance(one, Assignment)}
        users = await until_answered(lambda: self._store.list_job_users(sorted(jobs)))
        if self._home_tenant is None:
            self._home_tenant = await until_answered(self._store.home_tenant)
        user_of = {(one.batch_id, one.job_id): (one.tenant, one.submitter) for one in users}
        for user in set(user_of.values()):
            await self._look_up(user)
        return [
            self._given(one, user_of.get((one.key.batch_id, one.key.job_id)))
            if isinstance(one, Assignment)
            else one
            for one in some
        ]

    def _given(self, one: Assignment, user: User | None) -> Assignment | Ended:
        found: Account | str = "it is gone" if user is None else self._known[user].found
        if isinstance(found, Account):
            return msgspec.structs.replace(one, account=found)
        why = f"the job cannot run under an account of its user: {found}"
        now_ns = time.monotonic_ns()
        return never_started(one.key, Reason.BAD_SPEC, now_ns=now_ns, message=why)

    async def _look_up(self, user: User) -> None:
        known, seen_at = self._known.get(user), self._clock()
        if known is not None and seen_at < known.fresh_until:
            return
        found: Account | str
        try:
            # In a thread, because a directory service may be slow.
            found = await asyncio.to_thread(self._find, user)
        except _NoEntry as error:
            found = str(error)
            if (
                known is not None
                and isinstance(known.found, Account)
                and seen_at - known.seen_at < _KEPT_S
            ):
                _, seen_at, found = known
        self._known[user] = _Known(self._clock() + _FRESH_S, seen_at, found)

    def _find(self, user: User) -> Account | str:
        """Return the account, or why there is none. Raise `_NoEntry`."""
        tenant, name = user
        try:
            wanted = account_of(user, self._accounts, self._home_tenant or "")
        except NamedTwice:
            return f"`run_as_accounts` of this worker names {name} and {tenant}/{name}"
        if wanted is None:
            return f"`run_as_accounts` of this worker does not name {tenant}/{name}"
        if isinstance(wanted, tuple):
            found, called = Account(*wanted, (), name, "/"), "{}:{}".format(*wanted)
        else:
            called = repr(wanted)
            try:
                entry = pwd.getpwnam(wanted)
            except (KeyError, ValueError) as error:
                raise _NoEntry(f"this host has no account {called}") from error
            groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
            found = Account(entry.pw_uid, entry.pw_gid, tuple(groups), entry.pw_name, entry.pw_dir)
        if found.uid < self._uid_min:
            least = f"its number {found.uid} is below {self._uid_min} (`run_as_uid_min`)"
            return f"the account {called} belongs to the system: {least}"
        if 0 in (found.gid, *found.groups):
            return f"the account {called} belongs to the group {grp.getgrgid(0).gr_name}"
        return found


_BATCHES_MAX: Final = 10_000


class JobTenants:
    """Finds and remembers whose jobs are, which never changes: their batch says it."""

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
