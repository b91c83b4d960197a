"""How many requests of a tenant and of a user one api serves at a time, open streams included."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from weft.core.access.rights import Right
from weft.core.errors import TooManyAtOnce
from weft.ports.store import Caller


class OpenRequests:
    """Counts requests that have begun and not ended. `most`: of a tenant; one user has half."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[tuple[int, int]] = Counter()

    @contextmanager
    def counted(self, caller: Caller) -> Iterator[None]:
        """Count a request while it is served. Raise `TooManyAtOnce`."""
        user, tenant = (caller.tenant_id, caller.user_id), (caller.tenant_id, 0)
        limits = {} if caller.work else {user: self._most // 2, tenant: self._most}
        if caller.may(Right.MANAGE):  # to end what others keep open
            limits.pop(tenant, None)
        for key, most in limits.items():
            if self._open[key] >= most:
                raise TooManyAtOnce(
                    f"{'you have' if key == user else 'your tenant has'} too many open requests",
                    detail=f"One api serves {most} of them at a time, and open streams count.",
                    hint="Close streams that nobody reads, and follow all jobs by one stream.",
                )
        self._open.update(limits.keys())
        try:
            yield
        finally:
            for key in limits:
                self._open[key] -= 1
                if not self._open[key]:
                    del self._open[key]
