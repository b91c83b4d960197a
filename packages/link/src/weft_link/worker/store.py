"""`WorkerStore` by the link. What was reported as ended has its output in the api."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from weft.core.errors import LinkFrameRefused, SecretKeyMissing
from weft.core.states import AttemptKey
from weft.ports.log_store import LogKeeper
from weft.ports.store import (
    Claimed,
    ClaimRequest,
    EndReport,
    OfferAnswer,
    Registered,
    StoredSecret,
)
from weft.ports.worker_link import call_forms
from weft_link.seal import LinkKey
from weft_link.worker.calls import LinkCaller, Looking
from weft_link.worker.shipping import Shipper


class LinkedWorkerStore:
    """A worker agent's calls to the api. The methods are documented at the port; those that are
    not here are sent as they are.
    """

    def __init__(self, caller: LinkCaller, shipper: Shipper, key: LinkKey) -> None:
        self._caller = caller
        self._shipper = shipper
        self._key = key

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name not in call_forms():
            raise AttributeError(name)
        return partial(self._caller.call, name)

    async def register_worker(self, **facts: object) -> Registered:
        """Register this worker: from now on the link answers about this incarnation."""
        registered: Registered = await self._caller.call("register_worker", **facts)
        self._caller.incarnation_id = registered.incarnation_id
        self._follow(registered.live)
        return registered

    async def get_secrets(
        self, incarnation_id: int, wanted: Sequence[tuple[AttemptKey, str]]
    ) -> Sequence[StoredSecret | None]:
        """Return secrets that are sealed for this worker's key. Raise `SecretKeyMissing` if the
        api is one of the release that gave none.
        """
        try:
            sealed: Sequence[StoredSecret | None] = await self._caller.call(
                "seal_secrets", incarnation_id, wanted, self._key.public
            )
        except LinkFrameRefused as error:
            raise SecretKeyMissing(
                "this server gives workers outside no secrets",
                detail=error.detail,
                hint="Upgrade the server, or send such jobs to workers with a login.",
            ) from error
        return sealed

    async def claim_jobs(self, incarnation_id: int, request: ClaimRequest) -> Sequence[Claimed]:
        """Take ready jobs, and ship what they write."""
        claimed = await self._caller.call("claim_jobs", incarnation_id, request)
        return self._follow(claimed)

    async def claim_reserved(
        self, incarnation_id: int, request: ClaimRequest
    ) -> tuple[Sequence[Claimed], bool]:
        """Take the job that this worker is kept for."""
        claimed, fills = await self._caller.call("claim_reserved", incarnation_id, request)
        return self._follow(claimed), fills

    async def claim_offered(self, *of: Any) -> Sequence[OfferAnswer]:  # noqa: ANN401 (as they are)
        """Take the jobs of offers."""
        answers: Sequence[OfferAnswer] = await self._caller.call("claim_offered", *of)
        self._follow([answer.claimed for answer in answers if answer.claimed is not None])
        return answers

    async def complete_attempts(
        self, incarnation_id: int, reports: Sequence[EndReport]
    ) -> Sequence[str]:
        """Ship what is left of these outputs, then record the ends."""
        reports = await self._shipper.ship_ended(reports)
        verdicts: Sequence[str] = await self._caller.call(
            "complete_attempts", incarnation_id, reports
        )
        return verdicts

    async def complete_and_claim(
        self, incarnation_id: int, reports: Sequence[EndReport], request: ClaimRequest
    ) -> tuple[Sequence[str], Sequence[Claimed]]:
        """Do both."""
        reports = await self._shipper.ship_ended(reports)
        verdicts, claimed = await self._caller.call(
            "complete_and_claim", incarnation_id, reports, request
        )
        return verdicts, self._follow(claimed)

    def _follow(self, claimed: Sequence[Claimed]) -> Sequence[Claimed]:
        self._shipper.follow(one.key for one in claimed)
        return claimed


class LinkNotices:
    """Notices by the link; see the port."""

    def __init__(self, caller: LinkCaller, looking: Looking | None = None) -> None:
        self._caller = caller
        self._looking = looking

    async def listen(self, *channels: str) -> AsyncIterator[tuple[str, str]]:
        """Yield (channel, payload)."""
        async with aclosing(self._caller.listen(*channels, "look")) as notices:  # type: ignore[type-var]  # it is a generator
            async for channel, payload in notices:
                if channel == "look" and self._looking is not None:
                    self._looking.ask(payload)
                elif channel != "look":
                    yield channel, payload


class LinkedKeeper:
    """Removes output here and in the api; see the port `LogKeeper`."""

    def __init__(self, caller: LinkCaller, here: LogKeeper) -> None:
        self._caller = caller
        self._here = here

    async def batches(self) -> Sequence[int]:
        return await self._here.batches()

    async def remove(self, batch_ids: Sequence[int]) -> None:
        paths = [f"attempts/b{batch_id}" for batch_id in batch_ids]
        await self._caller.call("remove_logs", self._caller.incarnation_id, paths)
        await self._here.remove(batch_ids)
