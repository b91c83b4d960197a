"""Telemetry: the catalogue of log events, metrics and trace ids.

The only place where names of events and metrics are written. Must not decide anything and must
not fail the caller; log lines hold facts, never payloads and never secrets.
"""
