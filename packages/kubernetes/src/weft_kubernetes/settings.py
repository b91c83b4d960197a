"""Settings of the runner and the provider `kubernetes`."""

from dataclasses import dataclass
from pathlib import Path

from weft.settings import setting


@dataclass(frozen=True, kw_only=True)
class KubernetesSettings:
    """How gateways and the driver speak to Kubernetes, and what their pods are."""

    kubernetes_config: Path | None = setting(
        None, "the kubeconfig (default: KUBECONFIG, the account of our pod, ~/.kube/config)"
    )
    kubernetes_context: str = setting("", "the context of the kubeconfig (default: its current)")
    kubernetes_namespace: str = setting("default", "the namespace of the pods")
    kubernetes_image: str = setting("", "the image of jobs that name none; empty: each must")
    kubernetes_images: str = setting(
        "*", "images that jobs may name, as patterns of a shell: registry.example/*,debian:*"
    )
    kubernetes_connect: str | None = setting(
        None, "the address at which worker pods reach the api, as https://weft.example.org"
    )
    kubernetes_worker_image: str = setting("", "the image of worker pods (pools may name another)")
    kubernetes_gpu: str = setting("nvidia.com/gpu", "what Kubernetes calls a GPU")
    kubernetes_start_s: int = setting(
        600, "seconds that a pod may need beyond its job's time limit", within=(1, 86_400)
    )
    kubernetes_image_s: float = setting(
        120.0,
        "seconds after which an image that cannot be pulled ends the attempt",
        within=(0, 86_400),
    )
    kubernetes_log_s: float = setting(
        60.0,
        "seconds for which a node is asked for the output of a pod that has ended",
        within=(0, 86_400),
    )
    kubernetes_answer_s: float = setting(
        30.0, "seconds after which a request to Kubernetes counts as unanswered", within=(1, 600)
    )
