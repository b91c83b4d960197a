"""A collector: takes what is sent by OTLP over HTTP, and decodes it as the SDK's own messages.

    python collector.py PORT_FILE SPANS_FILE

Writes its port, and a line of JSON for each span, log record and metric that has come.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def _service(resource: Any) -> str:  # noqa: ANN401 (a message of protobuf)
    return next(a.value.string_value for a in resource.attributes if a.key == "service.name")


def _spans(body: bytes) -> Iterator[dict[str, Any]]:
    for part in ExportTraceServiceRequest.FromString(body).resource_spans:
        for span in (span for scope in part.scope_spans for span in scope.spans):
            yield {
                "span": span.name,
                "service": _service(part.resource),
                "id": span.span_id.hex(),
                "trace_id": span.trace_id.hex(),
                "parent": span.parent_span_id.hex(),
                "ns": span.end_time_unix_nano - span.start_time_unix_nano,
                "error": span.status.message,
            }


def _logs(body: bytes) -> Iterator[dict[str, Any]]:
    for part in ExportLogsServiceRequest.FromString(body).resource_logs:
        for record in (record for scope in part.scope_logs for record in scope.log_records):
            yield {
                "log": record.body.string_value,
                "service": _service(part.resource),
                "trace_id": record.trace_id.hex(),
            }


def _metrics(body: bytes) -> Iterator[dict[str, Any]]:
    for part in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        for metric in (metric for scope in part.scope_metrics for metric in scope.metrics):
            points = metric.sum.data_points or metric.gauge.data_points
            yield {
                "metric": metric.name,
                "service": _service(part.resource),
                "value": sum(point.as_double or point.as_int for point in points),
            }


_READERS = {"/v1/traces": _spans, "/v1/logs": _logs, "/v1/metrics": _metrics}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        lines = "".join(json.dumps(one) + "\n" for one in _READERS[self.path](body))
        with Path(sys.argv[2]).open("a") as file:
            file.write(lines)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3]) if sys.argv[3:] else 0), _Handler)
    Path(sys.argv[1]).write_text(str(server.server_port))
    server.serve_forever()
