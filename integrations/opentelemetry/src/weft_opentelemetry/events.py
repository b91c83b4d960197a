"""Spans of jobs, from the events that the leading driver tells.

The driver keeps in the database how far it has told, and goes on from there: no job is left out
when a collector was away, and one that is told twice has the same span.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Final, NoReturn

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from weft.core.findings import Finding
from weft.core.states import ENDED_WORDS
from weft.ports.topics import Record
from weft.ports.transport import Connection, Deliveries, Depth, Route, TransportError
from weft_opentelemetry.spans import SUBMISSION, ended_span, resource_of, span_id

BEGUN_MAX: Final = 1_000_000
"""Of so many jobs that have not ended it is known since when they are there."""


class JobSpans:
    """An event sink that makes a span of each job that ends."""

    def __init__(self, connection: Connection) -> None:
        certificate = None if connection.ca_file is None else str(connection.ca_file)
        self._exporter = OTLPSpanExporter(
            f"{connection.address.rstrip('/')}/v1/traces", certificate_file=certificate
        )
        self._resource = resource_of("driver")
        self._begun: OrderedDict[tuple[int, int], int] = OrderedDict()

    async def make(self, partitions: Mapping[str, int]) -> None:
        """Do nothing: a collector has no topics."""

    async def publish(self, records: Sequence[Record]) -> Sequence[bool]:
        """Send spans of the jobs that have ended. Raise `TransportError`."""
        spans = [span for record in records for span in self._spans_of(json.loads(record.value))]
        if spans:
            sent = await asyncio.to_thread(self._exporter.export, spans)
            if sent is not SpanExportResult.SUCCESS:
                raise TransportError("the collector of OpenTelemetry did not take the spans")
        return [True] * len(records)

    def _spans_of(self, event: Mapping[str, Any]) -> Sequence[ReadableSpan]:
        kind, trace_id = event["kind"], event.get("trace_id")
        if not kind.startswith("jobs.") or not trace_id:
            return ()
        at_ns = int(datetime.fromisoformat(event["at"]).timestamp() * 1e6) * 1000
        keys = [(event["batch_id"], job) for job in event["jobs"]]
        if event["to"] not in ENDED_WORDS:
            for key in keys:
                self._begun.setdefault(key, at_ns)
            while len(self._begun) > BEGUN_MAX:
                self._begun.popitem(last=False)
            return ()
        return [self._span(key, event["to"], trace_id, at_ns) for key in keys]

    def _span(self, key: tuple[int, int], state: str, trace_id: str, end_ns: int) -> ReadableSpan:
        job = "b{}.j{}".format(*key)
        return ended_span(
            self._resource,
            "job",
            trace_id,
            span_id(trace_id, job),
            parent=span_id(trace_id, SUBMISSION),
            start_ns=self._begun.pop(key, end_ns),
            end_ns=end_ns,
            error=None if state == "success" else state,
            attributes={"weft.job": job, "weft.state": state},
        )

    async def close(self) -> None:
        """End the connection."""
        await asyncio.to_thread(self._exporter.shutdown)


class NoQueues:
    """The transport of the same kind: a collector carries no jobs."""

    def __init__(self, connection: Connection) -> None:
        self._address = connection.address

    async def publish(self, messages: Sequence[tuple[Route, bytes]]) -> Sequence[bool]:
        """Raise `TransportError`."""
        self._refuse()

    def consume(self, route: Route, *, limit: int) -> AbstractAsyncContextManager[Deliveries]:
        """Raise `TransportError`."""
        self._refuse()

    async def depths(self, routes: Sequence[Route]) -> Sequence[Depth]:
        """Return that there is nothing."""
        return [Depth(0, 0) for _ in routes]

    async def check(self, routes: Sequence[Route] = ()) -> Sequence[Finding]:
        """Say where the spans go."""
        return [Finding("transport", "ok", f"spans of jobs go to {self._address}")]

    async def close(self) -> None:
        """Do nothing."""

    def _refuse(self) -> NoReturn:
        raise TransportError("a collector of OpenTelemetry carries no jobs")
