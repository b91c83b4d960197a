"""What tools that run their own commands on weft have in common: `weft.bridge.Bridge`.

A bridge keeps the jobs of one tool in one growing batch, sends what is submitted within a moment
in one request, and tells ends as the server announces them. It never asks a job how it is.
"""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from pathlib import Path
from typing import Final, Self

from weft.client.api import Api, Document
from weft.client.loop_thread import ClientClosed, LoopThread
from weft.client.objects.growing_batch import GrowingBatch, Submitted
from weft.client.submission.ahead import caller_environment
from weft.core.ids import parse_job_ref

__all__ = ["Bridge", "Submitted"]
PATIENCE_S: Final = 300.0
GRACE_S: Final = 15.0


class Bridge:
    """The jobs of one tool, from any thread.

        with Bridge("workflow of ada") as bridge:
            job = bridge.submit({"command": ["make", "all"]})
            job.end.add_done_callback(lambda end: print(end.result().state))
            print(job.ref.result(), job.end.result().exit_code)

    Args:
        name: Name of its batch. A process that has the same name goes on with the same batch;
            default: a name that only this process has.
        billing_project: Project that pays for its batch; default: as for every batch.
        inherit_env: Whether jobs get the environment of this process, without weft's secrets.
        url: Address of the server; default: `WEFT_URL`, or what `weft up` wrote in the home.
        token: The caller's token; default: `WEFT_TOKEN`, or likewise.
        home: The home to look into, instead of `WEFT_HOME`.
        patience_s: How long the server may be away before all jobs fail here.
        grace_s: How long a Ctrl-C waits for jobs that are cancelled.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        billing_project: str | None = None,
        inherit_env: bool = True,
        url: str | None = None,
        token: str | None = None,
        home: Path | None = None,
        patience_s: float = PATIENCE_S,
        grace_s: float = GRACE_S,
    ) -> None:
        api = Api(url, token, home=home, patience_s=patience_s, wait_patience_s=patience_s)
        self.url = api.url
        """Where the server is. Asked now, so that it is said at once if there is none."""
        self.name = name or f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
        found = caller_environment(home=home) if inherit_env else None
        environment = {} if found is None else {"inherit_env": found.variables}
        payer = {"billing_project": billing_project} if billing_project else {}
        self._batch = GrowingBatch(api, {"name": self.name, **payer}, environment)
        self._grace_s = grace_s
        self._loop_thread = LoopThread()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None and issubclass(kind, KeyboardInterrupt):
                self.cancel_all()
        finally:
            self.close()

    def close(self) -> None:
        """Wait for nothing more; jobs go on."""
        if self._loop_thread.is_alive:
            self._loop_thread.wait(self._batch.close())
            self._loop_thread.close()

    def submit(self, job: Document) -> Submitted:
        """Submit one job, in the words of a job document; return at once."""
        return self._post(self._batch.submit, job)

    def attach(self, ref: str) -> Submitted:
        """Wait for a job such as `b4.j7`, whoever submitted it; once its `ref` is there, its `end`
        is if it has ended. Raise `Invalid`.
        """
        return self._post(self._batch.attach, *parse_job_ref(ref))

    def refs_by_name(self) -> Mapping[str, str]:
        """Return the newest job of each name in the batch, such as `{"align": "b4.j7"}`: for
        `attach`, after a process of this name was killed.
        """
        return self._loop_thread.wait(self._batch.refs_by_name())

    def cancel(self, refs: Sequence[str]) -> None:
        """Cancel jobs such as `b4.j7`; their ends are told. What has ended stays as it is."""
        self._loop_thread.wait(self._batch.cancel([parse_job_ref(ref) for ref in refs]))

    def cancel_all(self) -> None:
        """Cancel the batch, and wait for the ends of its jobs, at most for the grace."""
        live = list(self._batch.live)
        self._loop_thread.wait(self._batch.cancel_all())
        wait([submitted.end for submitted in live], self._grace_s)

    def why(self, ref: str | None = None) -> str | None:
        """Return the first cause why its jobs do not run, or why one does not; None: there is
        none, or nothing was submitted.
        """
        return self._loop_thread.wait(self._batch.why(None if ref is None else parse_job_ref(ref)))

    def log(self, ref: str, last_bytes: int | None = None) -> bytes:
        """Return what a job has written so far, or only the end of it."""
        return self._loop_thread.wait(self._batch.log(parse_job_ref(ref), last_bytes))

    def _post(self, call: Callable[..., None], *args: object) -> Submitted:
        if not self._loop_thread.is_alive:
            raise ClientClosed(
                "the bridge is closed", hint="Make another one: `weft.bridge.Bridge()`."
            )
        submitted = Submitted()
        self._loop_thread.post(call, *args, submitted)
        return submitted
