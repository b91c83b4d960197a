"""What each role says by itself: spans of requests and attempts, its log and its metrics.

Lines come from `weft.telemetry.log`. Everything is sent by threads of the SDK in batches; while a
collector is away, what does not fit in their queues is lost, and nobody waits.
"""

import atexit
import os
import random
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from opentelemetry._logs import SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import NonRecordingSpan, SpanKind, set_span_in_context

from weft.core.states import Reason
from weft.telemetry.log import LogReader
from weft.telemetry.metrics import REGISTRY
from weft_opentelemetry.spans import SUBMISSION, context_of, ended_span, resource_of, span_id

_SWITCHES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_SEVERITIES = {
    "INFO": SeverityNumber.INFO,
    "WARNING": SeverityNumber.WARN,
    "ERROR": SeverityNumber.ERROR,
    "CRITICAL": SeverityNumber.FATAL,
}
_APART = {"event", "at", "level", "exc_info"}
_CREATED, _SERVER_ERROR = 201, 500


def line_reader(role: str) -> LogReader | None:
    """Return what reads the lines of a role, if the environment names a collector."""
    if os.environ.get("OTEL_SDK_DISABLED") == "true" or not any(map(os.environ.get, _SWITCHES)):
        return None
    return _Lines(role)


class _Lines:
    """Reads lines of one process."""

    def __init__(self, role: str) -> None:
        self._resource = resource = resource_of(role)
        self._spans = BatchSpanProcessor(OTLPSpanExporter())
        self._logs = LoggerProvider(resource)
        self._logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
        self._logger = self._logs.get_logger("weft")
        reader = PeriodicExportingMetricReader(OTLPMetricExporter())
        self._metrics = MeterProvider([reader], resource)
        _show_metrics(self._metrics)
        atexit.register(self._close)

    def __call__(self, line: Mapping[str, Any]) -> None:
        """Read one line."""
        at_ns = int(datetime.fromisoformat(line["at"]).timestamp() * 1e6) * 1000
        if line["event"] == "request.answered":
            self._spans.on_end(self._request(line, at_ns))
        elif line["event"] == "attempt.ended" and line["trace_id"]:
            self._spans.on_end(self._attempt(line, at_ns))
        is_own = str(line.get("logger", "")).startswith("opentelemetry")
        if line["level"] != "debug" and not is_own:
            self._emit(line, at_ns)

    def _request(self, line: Mapping[str, Any], at_ns: int) -> ReadableSpan:
        trace_id, status = line["trace_id"], line["status"]
        is_submission = line["method"] == "POST" and status == _CREATED
        own = span_id(trace_id, SUBMISSION) if is_submission else random.getrandbits(64) | 1
        caller = line.get("traceparent")
        return ended_span(
            self._resource,
            f"{line['method']} {line['route']}",
            trace_id,
            own,
            parent=int(caller.split("-")[2], 16) if caller else None,
            start_ns=at_ns - int(line["ms"] * 1e6),
            end_ns=at_ns,
            kind=SpanKind.SERVER,
            error=str(line["code"] or status) if status >= _SERVER_ERROR else None,
            attributes={
                "http.request.method": line["method"],
                "http.route": line["route"],
                "http.response.status_code": status,
            },
        )

    def _attempt(self, line: Mapping[str, Any], at_ns: int) -> ReadableSpan:
        trace_id, key, reason = line["trace_id"], line["key"], line["reason"]
        job = f"b{key.batch_id}.j{key.job_id}"
        return ended_span(
            self._resource,
            "attempt",
            trace_id,
            span_id(trace_id, key.name),
            parent=span_id(trace_id, job),
            start_ns=at_ns - int(line["ms"] * 1e6),
            end_ns=at_ns,
            error=None if reason is None else Reason(reason).name.lower(),
            attributes={
                "weft.job": job,
                "weft.attempt": key.attempt,
                "weft.executor": line["executor"],
            },
        )

    def _emit(self, line: Mapping[str, Any], at_ns: int) -> None:
        trace_id, level, context = line.get("trace_id"), line["level"].upper(), None
        if trace_id:
            context = set_span_in_context(
                NonRecordingSpan(context_of(trace_id, span_id(trace_id, SUBMISSION)))
            )
        self._logger.emit(
            timestamp=at_ns,
            severity_text=level,
            body=line["event"],
            severity_number=_SEVERITIES[level],
            context=context,
            attributes={name: _value(value) for name, value in line.items() if name not in _APART},
        )

    def _close(self) -> None:
        """Send what is left."""
        self._spans.shutdown()
        self._logs.shutdown()
        self._metrics.shutdown()


def _value(value: object) -> str | int | float | bool:
    return value if isinstance(value, str | int | float | bool) else str(value)


def _show_metrics(provider: MeterProvider) -> None:
    """Let each metric of the process be read as it is when it is sent. A histogram is the counts
    of its sum and of its values, without buckets.
    """
    meter = provider.get_meter("weft")
    for family in REGISTRY.collect():
        name, text = family.name, family.documentation
        if family.type == "gauge":
            meter.create_observable_gauge(name, [_observer(name)], description=text)
            continue
        suffixes = ("_total",) if family.type == "counter" else ("_count", "_sum")
        for suffix in suffixes:
            shown = name if suffix == "_total" else name + suffix
            observer = _observer(name, suffix)
            meter.create_observable_counter(shown, [observer], description=text)


def _observer(name: str, suffix: str = "") -> Callable[[CallbackOptions], Iterable[Observation]]:
    one = REGISTRY.restricted_registry([name + suffix])

    def observe(_options: CallbackOptions) -> Iterable[Observation]:
        for family in one.collect():
            for sample in family.samples:
                if sample.name == name + suffix:
                    yield Observation(sample.value, sample.labels)

    return observe
