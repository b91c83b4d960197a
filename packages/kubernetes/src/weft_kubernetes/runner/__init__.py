"""The runner `kubernetes`: an attempt is a pod of a Kubernetes cluster.

A pod is never restarted; attempts outlive the gateway. It must not start a job's process itself.
"""

from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.handles import Handles, tag_of
from weft.ports.runner import RunnerSite
from weft_kubernetes.runner.client import KubernetesClient
from weft_kubernetes.runner.config import access_of
from weft_kubernetes.runner.engine import KubernetesEngine
from weft_kubernetes.settings import KubernetesSettings


def open_kubernetes(site: RunnerSite) -> RemoteRunner:
    """Return the gateway of this worker to Kubernetes. Raise `WrongKubeconfig`."""
    settings = site.section(KubernetesSettings)
    client = KubernetesClient(access_of(settings), settings)
    engine = KubernetesEngine(client, settings, site.limits, tag=tag_of(site.state))
    handles = Handles(site.state)
    return RemoteRunner(engine, handles, site.log_writer, site.worker, limits=site.limits)
