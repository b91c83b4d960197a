"""The secrets of jobs: read when an attempt is handed over, and decrypted here (ADR 54)."""

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from weft.core.attempt_key import AttemptKey
from weft.core.errors import SecretKeyMissing, WeftError
from weft.core.states import Reason
from weft.ports.patience import until_answered
from weft.ports.runner import Assignment, Ended, GivenSecret, never_started
from weft.ports.store import StoredSecret, WorkerStore
from weft.wire.documents.secrets import SecretUse
from weft.wire.sealed import OpensSecrets


class JobSecrets:
    """What attempts of one incarnation are given. Nothing is kept between two attempts."""

    def __init__(
        self, store: WorkerStore, incarnation_id: int, keys: Callable[[], OpensSecrets]
    ) -> None:
        self._store = store
        self._incarnation_id = incarnation_id
        self._keys = keys

    async def give(self, assignments: Sequence[Assignment]) -> Sequence[Assignment | Ended]:
        """Return each attempt with its secrets, or how it ends without them."""
        wanted = [(one.key, use.name) for one in assignments for use in one.spec.secrets or ()]
        try:
            stored = await until_answered(
                lambda: self._store.get_secrets(self._incarnation_id, wanted)
            )
            keys = self._keys()
        except SecretKeyMissing as error:  # here, or at the api that opens them for this worker
            return [_ended(one.key, Reason.SYSTEM, error.message) for one in assignments]
        rest = iter(stored)
        return [_given(one, keys, rest) for one in assignments]


def _given(
    assignment: Assignment, keys: OpensSecrets, rest: Iterator[StoredSecret | None]
) -> Assignment | Ended:
    uses = assignment.spec.secrets or ()
    stored = [next(rest) for _ in uses]
    values: list[GivenSecret] = []
    for use, secret in zip(uses, stored, strict=True):
        if secret is None:
            return _ended(assignment.key, Reason.PREEMPTED, "another worker has it")
        if secret.body is None:
            why = f"its user has no secret {use.name!r} any more"
            return _ended(assignment.key, Reason.BAD_SPEC, why)
        value = _opened(use, secret, keys)
        if isinstance(value, str):
            return _ended(assignment.key, Reason.SYSTEM, value)
        values.append(value)
    return msgspec.structs.replace(assignment, secrets=values)


def _opened(use: SecretUse, secret: StoredSecret, keys: OpensSecrets) -> GivenSecret | str:
    """Return a secret, or why it cannot be decrypted."""
    assert secret.body is not None
    if secret.unreadable:
        return f"its secret {use.name!r} cannot be decrypted by the api: {secret.unreadable}"
    try:
        return GivenSecret(use, keys.open(secret.body, secret.row))
    except WeftError as error:
        why = error.message
    except ValueError as error:
        why = str(error)
    return f"its secret {use.name!r} cannot be decrypted on this worker: {why}"


def _ended(key: AttemptKey, reason: Reason, message: str) -> Ended:
    return never_started(key, reason, now_ns=time.monotonic_ns(), message=message)
