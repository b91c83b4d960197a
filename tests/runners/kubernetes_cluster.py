"""A Kubernetes of the tests: a real control plane, and a stand-in for the kubelet of its node."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any

from servers.on_this_host import running, stopped

START_S = 2400
PORT = 18100
PODS = "/api/v1/namespaces/default/pods"
_NOT_FOUND = 404


class KubernetesCluster:
    """A cluster that runs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.config = directory / "kubeconfig"

    def ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 (a document of theirs)
        """Call the API as the administrator; a missing thing is None."""
        token = (self.directory / "etc" / "token").read_text().strip()
        tls = ssl.create_default_context(cafile=str(self.directory / "etc/certs/apiserver.crt"))
        kind = "merge-patch+json" if method == "PATCH" else "json"
        request = urllib.request.Request(
            f"https://127.0.0.1:{PORT}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": f"application/{kind}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30, context=tls) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == _NOT_FOUND:
                return None
            raise

    def pods(self) -> list[Any]:
        """Return all pods."""
        return list(self.ask("GET", PODS)["items"])

    def stopped(self, part: str = "apiserver") -> AbstractAsyncContextManager[None]:
        """Let a part answer nobody."""
        return stopped(self.directory, part)

    def purge(self) -> None:
        """Remove all pods."""
        for one in self.pods():
            path = f"{PODS}/{one['metadata']['name']}"
            self.ask("PATCH", path, {"metadata": {"finalizers": None}})
            self.ask("DELETE", f"{path}?gracePeriodSeconds=0")


@contextmanager
def kubernetes_cluster() -> Iterator[KubernetesCluster]:
    """Run a cluster; skip the test where there cannot be one."""
    with running("Kubernetes", PORT, within_s=START_S) as directory:
        yield KubernetesCluster(directory)
