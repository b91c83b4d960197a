"""Kubernetes, by its HTTP API."""

from weft.registry.extension import Extension

EXTENSION = Extension(checks="weft.extensions.engines.kubernetes.checks:check_clusters")
