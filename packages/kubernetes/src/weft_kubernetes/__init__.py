"""Kubernetes, by its HTTP API: pods run jobs, or are machines; it must know no other engine."""

from weft.ports.extension import Extension

EXTENSION = Extension(checks="weft_kubernetes.provider:check_clusters")
