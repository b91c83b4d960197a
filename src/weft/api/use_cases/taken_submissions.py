"""Submissions that come by a queue or topic of a tenant, as the user whom the operator has named.

Every api takes some. A message is acknowledged when its batch is stored: its `id` is the key, so
a repeat is harmless. What is refused comes to the dead messages with the problem document.

    message ──▶ read ──▶ submitted under its id ──▶ acknowledged
                  │           ├── full, no database: held, and tried again
                  └───────────┴── refused: put to the dead messages
"""

import hashlib
from collections.abc import Callable
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from weft.api.services import Services
from weft.api.use_cases.due_work import defect
from weft.api.use_cases.intake import finish_all, named_user, submit_taken, until_possible
from weft.core.access.token_text import stored_key
from weft.core.bounded import read_json
from weft.core.consumer_limits import SUBMISSIONS_MAX
from weft.core.errors import Invalid, WeftError
from weft.core.ids import format_batch_id
from weft.core.problems import problem_document
from weft.ports.store import Origin
from weft.ports.transport import SUBMISSIONS, Delivery, Route, Transport, TransportError
from weft.settings.transports_file import SubmissionsDocument
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.telemetry.trace import new_trace_id
from weft.wire.documents.batches import BatchDocument

FULL_FOR_S: Final = 600.0
"""For so long a full queue or an exceeded quota is waited for."""
KEY: Final = "submission"
_DEFECT: Final = defect(
    "the batch could not be submitted", ", and send the message again when it is mended"
)


class SubmissionMalformed(Invalid, code="SUBMIT.MESSAGE_MALFORMED"):
    """A message that is no submission."""


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: Annotated[str, Meta(min_length=1, max_length=200)]
    batch: msgspec.Raw


class TakenSubmissions:
    """Takes what comes by one connection."""

    def __init__(
        self,
        services: Services,
        transport: Transport,
        name: str,
        terms: SubmissionsDocument,
        decode: Callable[[bytes], BatchDocument],
    ) -> None:
        self._services = services
        self._transport = transport
        self._name = name
        self._terms = terms
        self._decode = decode
        self._route = Route(terms.tenant, SUBMISSIONS)

    async def serve(self) -> None:
        """Take what comes, until cancelled."""
        await finish_all(
            self._name,
            lambda: self._transport.consume(self._route, limit=SUBMISSIONS_MAX),
            self._finish,
        )

    async def _finish(self, delivery: Delivery) -> None:
        trace_id = new_trace_id()
        try:
            try:
                await until_possible(
                    lambda: self._submit(delivery.body, trace_id), full_for_s=FULL_FOR_S
                )
            except WeftError as error:
                await self._refuse(delivery, error, trace_id)
            except Exception:
                # It must not hold up the messages behind it.
                log.exception("submissions.failed", transport=self._name)
                await self._refuse(delivery, _DEFECT, trace_id)
            else:
                await delivery.acknowledge()
        except TransportError as error:
            log.warning("transport.away", transport=self._name, error=str(error))  # it comes again

    async def _submit(self, body: bytes, trace_id: str) -> None:
        key, batch = self._read(body)
        caller = await named_user(
            self._services, self._terms.tenant, self._terms.user, "submissions"
        )
        document = self._decode(batch)
        if self._terms.project is not None:
            document.billing_project = self._terms.project
        origin = Origin(
            digest=hashlib.sha256(batch).digest(), trace_id=trace_id, key=stored_key(KEY, key)
        )
        answer, is_new = await submit_taken(
            self._services, caller, document, origin, "take_in_batch", f"/{self._route.name}"
        )
        metrics.SUBMISSIONS_TAKEN.labels(self._name, "submitted" if is_new else "known").inc()
        if is_new:
            log.info(
                "submissions.submitted",
                transport=self._name,
                trace_id=answer["trace_id"],
                batch=format_batch_id(int(answer["batch_id"])),
            )

    def _read(self, body: bytes) -> tuple[str, bytes]:
        size_max = self._services.settings.bunch_bytes_max
        try:
            if len(body) > size_max:
                raise msgspec.ValidationError(f"it has {len(body):,} bytes, at most {size_max:,}")
            found = read_json(body, _Message)
        except msgspec.MsgspecError as error:
            raise SubmissionMalformed(
                "the message is no submission",
                detail=f"{error}."[:500],
                hint='Write {"id": "TEXT", "batch": {…}}, with the document of a batch.',
            ) from error
        return found.id, bytes(found.batch)

    async def _refuse(self, delivery: Delivery, error: WeftError, trace_id: str) -> None:
        log.warning(
            "submissions.refused",
            transport=self._name,
            code=error.code,
            error=error.message,
            trace_id=trace_id,
        )
        metrics.SUBMISSIONS_TAKEN.labels(self._name, "refused").inc()
        await delivery.refuse(msgspec.json.encode(problem_document(error, trace_id)).decode())
