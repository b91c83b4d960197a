"""Spans of weft, made when they have ended.

Their ids follow from the trace and from what they are of, so that processes which have never heard
of each other make one tree, and a span that is sent twice is the same span.
"""

import os
from collections.abc import Mapping

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from weft import __version__
from weft.telemetry.trace import span_of

SUBMISSION = "submission"
"""The name of the request that has begun a trace's jobs."""
_SCOPE = InstrumentationScope("weft", __version__)
Value = str | int | float | bool


def resource_of(role: str) -> Resource:
    """Return what the spans, counts and lines of a role are of, such as `weft-worker`;
    `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` name it otherwise.
    """
    named = "OTEL_SERVICE_NAME" in os.environ
    named |= "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    service = {} if named else {"service.name": f"weft-{role.partition('-')[0]}"}
    known = {"service.instance.id": role, "service.version": __version__}
    return Resource.create({**known, **service})


def span_id(trace_id: str, name: str) -> int:
    """Return the id of the span of a thing."""
    return int(span_of(trace_id, name), 16)


def context_of(trace_id: str, span: int) -> SpanContext:
    """Return where a span is."""
    sampled = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(int(trace_id, 16), span, is_remote=True, trace_flags=sampled)


def ended_span(
    resource: Resource,
    name: str,
    trace_id: str,
    span: int,
    *,
    parent: int | None,
    start_ns: int,
    end_ns: int,
    kind: SpanKind = SpanKind.INTERNAL,
    error: str | None = None,
    attributes: Mapping[str, Value],
) -> ReadableSpan:
    """Return a span that has ended."""
    return ReadableSpan(
        name,
        context=context_of(trace_id, span),
        parent=None if parent is None else context_of(trace_id, parent),
        resource=resource,
        attributes=attributes,
        kind=kind,
        status=Status() if error is None else Status(StatusCode.ERROR, error),
        start_time=start_ns,
        end_time=end_ns,
        instrumentation_scope=_SCOPE,
    )
