"""OpenTelemetry for weft: what its roles log, count and do goes to a collector, by OTLP."""
