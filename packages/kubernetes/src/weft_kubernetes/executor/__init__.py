"""The executor `kubernetes`: the job is a pod of a Kubernetes cluster.

Its runner describes the pod itself (`../runner/`); nothing is translated here.
"""


class KubernetesExecutor:
    """Say which runner runs these jobs."""

    runner = "kubernetes"
