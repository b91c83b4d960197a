"""Whether the api has signed the functions of jobs for the owner of their batch (ADR 60). They are
pickles: what somebody else has put into the database is never handed to a process that reads it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from weft.core.errors import WeftError
from weft.core.states import Reason
from weft.ports.function_signatures import ChunkKey, Refused, SignedBy
from weft.ports.store import JobUser
from weft.wire.sealed import SecretKeys
from weft.wire.signed import CHUNK, NotSigned, Signer, signer_of
from weft.wire.spec import JobSpec, have_functions

_KEYS_FRESH_S: Final = 1.0
_OWNERS_KEPT: Final = 10_000


class FindsOwners(Protocol):
    """The part of the store that is asked."""

    async def list_job_users(self, jobs: Sequence[tuple[int, int]]) -> Sequence[JobUser]:
        """See `WorkerStore`."""


class Signatures:
    """Checks them with the keys; owners of batches are remembered, because they never change. See
    the port `FunctionSignatures`.
    """

    def __init__(
        self, store: FindsOwners, keys: Callable[[], SecretKeys], *, required: bool = True
    ) -> None:
        self._store = store
        self._read_keys = keys
        self._required = required
        self._keys: SecretKeys | None = None
        self._keys_until = 0.0
        self._owners: dict[int, Signer] = {}

    def signer_of(self, body: bytes, specs: Sequence[JobSpec]) -> Signer | Refused | None:
        if not self._required or not have_functions(specs):
            return None
        try:
            return signer_of(CHUNK, body, self._fresh_keys())
        except NotSigned as error:
            return Refused(Reason.BAD_SPEC, f"its function is not called: {error}")
        except WeftError as error:
            why = (
                f"the signature of its function cannot be checked on this worker: {error.message}"
            )
            return Refused(Reason.SYSTEM, why)

    async def refused(self, found: Mapping[ChunkKey, SignedBy]) -> Mapping[ChunkKey, Refused]:
        unknown = {key[0]: key[1] for key in found if key[0] not in self._owners}
        if unknown:
            if len(self._owners) + len(unknown) > _OWNERS_KEPT:
                self._owners.clear()
                unknown = {key[0]: key[1] for key in found}
            for user in await self._store.list_job_users(list(unknown.items())):
                self._owners[user.batch_id] = Signer(user.tenant_id, user.owner_id)
        refused: dict[ChunkKey, Refused] = {}
        for key, signer in found.items():
            if isinstance(signer, Refused):
                refused[key] = signer
            elif signer != self._owners.get(key[0]):
                why = "its function is not called: it was signed for another user"
                refused[key] = Refused(Reason.BAD_SPEC, why)
        return refused

    def _fresh_keys(self) -> SecretKeys:
        """Return the keys, which may be rotated while this worker runs."""
        now = time.monotonic()
        if self._keys is None or now >= self._keys_until:
            self._keys = self._read_keys()
            self._keys_until = now + _KEYS_FRESH_S
        return self._keys
