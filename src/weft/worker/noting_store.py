"""The store of a worker whose output is shipped: it tells the shipper what runs and what ended."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from weft.core.states import AttemptKey
from weft.ports.store import Claimed, ClaimRequest, EndReport, OfferAnswer, Registered


class Notes(Protocol):
    """What is told."""

    def follow(self, keys: Iterable[AttemptKey]) -> None:
        """These attempts may write."""

    def ended(self, reports: Iterable[EndReport]) -> None:
        """These have ended."""


class NotingStore:
    """A store that is asked in between. The methods are documented at the port; those that are not
    here are the store's own.
    """

    def __init__(self, store: Any, notes: Notes) -> None:  # noqa: ANN401 (of several ports)
        self._store = store
        self._notes = notes

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (of several ports)
        return getattr(self._store, name)

    async def register_worker(self, **facts: object) -> Registered:
        """Register, and note what this worker has."""
        registered: Registered = await self._store.register_worker(**facts)
        self._follow(registered.live)
        return registered

    async def claim_jobs(self, incarnation_id: int, request: ClaimRequest) -> Sequence[Claimed]:
        """Take ready jobs."""
        return self._follow(await self._store.claim_jobs(incarnation_id, request))

    async def list_given(self, incarnation_id: int) -> Sequence[tuple[int, Claimed]]:
        """Return what was claimed for this worker."""
        given: Sequence[tuple[int, Claimed]] = await self._store.list_given(incarnation_id)
        self._follow([one for _, one in given])
        return given

    async def claim_reserved(
        self, incarnation_id: int, request: ClaimRequest
    ) -> tuple[Sequence[Claimed], bool]:
        """Take the job that this worker is kept for."""
        claimed, fills = await self._store.claim_reserved(incarnation_id, request)
        return self._follow(claimed), fills

    async def claim_offered(self, *of: Any) -> Sequence[OfferAnswer]:  # noqa: ANN401 (as they are)
        """Take the jobs of offers."""
        answers: Sequence[OfferAnswer] = await self._store.claim_offered(*of)
        self._follow([answer.claimed for answer in answers if answer.claimed is not None])
        return answers

    async def complete_attempts(
        self, incarnation_id: int, reports: Sequence[EndReport]
    ) -> Sequence[str]:
        """Record ends."""
        verdicts: Sequence[str] = await self._store.complete_attempts(incarnation_id, reports)
        self._notes.ended(reports)
        return verdicts

    async def complete_and_claim(
        self, incarnation_id: int, reports: Sequence[EndReport], request: ClaimRequest
    ) -> tuple[Sequence[str], Sequence[Claimed]]:
        """Do both."""
        verdicts, claimed = await self._store.complete_and_claim(incarnation_id, reports, request)
        self._notes.ended(reports)
        return verdicts, self._follow(claimed)

    def _follow(self, claimed: Sequence[Claimed]) -> Sequence[Claimed]:
        self._notes.follow(one.key for one in claimed)
        return claimed
