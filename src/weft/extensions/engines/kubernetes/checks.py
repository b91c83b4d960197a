"""What `weft doctor` asks of clusters of Kubernetes."""

import asyncio
from collections.abc import Iterator

from weft.core.findings import Finding
from weft.extensions.engines.kubernetes.provider import check_cluster
from weft.extensions.engines.kubernetes.settings import KubernetesSettings
from weft.ports.provider import ProviderError
from weft.settings import Settings


def check_clusters(settings: Settings) -> Iterator[Finding]:
    """Yield whether those that the settings name answer; nothing if they name none."""
    cluster = settings.section(KubernetesSettings)
    if cluster.kubernetes_connect is None:
        return
    try:
        yield Finding("kubernetes", "ok", asyncio.run(check_cluster(cluster)))
    except ProviderError as error:
        advice = "See docs/guides/kubernetes.md for the settings and the role."
        yield Finding("kubernetes", "wrong", str(error), advice)
