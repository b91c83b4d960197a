"""Where the API server is, and who we are there: a kubeconfig, or the account of our pod."""

import base64
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import yaml

from weft.core.bounded import bounded
from weft.core.errors import Invalid
from weft_kubernetes.settings import KubernetesSettings

_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_HOST: Final = "KUBERNETES_SERVICE_HOST"


class WrongKubeconfig(Invalid, code="WORKER.WRONG_KUBECONFIG"):
    """There is no kubeconfig, or none that a gateway can use."""


class Access(NamedTuple):
    """An API server, and the credentials for it."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    bearer: str = ""
    bearer_file: Path | None = None
    """Read for each request: what is in it is renewed."""


def access_of(settings: KubernetesSettings) -> Access:
    """Return the access that the settings name. Raise `WrongKubeconfig`."""
    path = settings.kubernetes_config
    if path is None and (named := os.environ.get("KUBECONFIG")):
        path = Path(named.split(os.pathsep, 1)[0])
    if path is None and _HOST in os.environ and _ACCOUNT.exists():
        tls = ssl.create_default_context(cafile=str(_ACCOUNT / "ca.crt"))
        port = int(os.environ.get("KUBERNETES_SERVICE_PORT", "443"))
        return Access(os.environ[_HOST], port, tls, bearer_file=_ACCOUNT / "token")
    path = path or Path.home() / ".kube" / "config"
    try:
        return _read(path, settings.kubernetes_context)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
        # Never its text: that may hold what the file holds.
        why = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
        raise WrongKubeconfig(
            f"not a kubeconfig that a gateway can use: {path}{why}",
            hint="Set `kubernetes_config`; `kubectl config view` must know its current context.",
        ) from error


def _read(path: Path, context: str) -> Access:
    found: Mapping[str, Any] = bounded(lambda: yaml.safe_load(path.read_text()))
    chosen = _named(found["contexts"], context or found["current-context"])["context"]
    cluster = _named(found["clusters"], chosen["cluster"])["cluster"]
    user = _named(found.get("users") or [], chosen["user"])["user"] or {}
    if "exec" in user or "auth-provider" in user:
        raise WrongKubeconfig(
            f"the user of {path} signs in by a program",
            hint="Make a service account for the gateway: see docs/guides/kubernetes.md.",
        )
    where = urlsplit(cluster["server"])
    if where.scheme not in {"http", "https"} or not where.hostname:
        raise ValueError("no address")
    tls = _tls(path.parent, cluster, user) if where.scheme == "https" else None
    file = user.get("tokenFile")
    port = where.port or (443 if tls else 80)
    token_file = None if file is None else path.parent / file
    return Access(where.hostname, port, tls, user.get("token") or "", token_file)


def _named(entries: list[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    return {one["name"]: one for one in entries}[name]


def _tls(beside: Path, cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    text = cluster.get("certificate-authority-data")
    file = cluster.get("certificate-authority")
    context = ssl.create_default_context(
        cafile=None if file is None else str(beside / file),
        cadata=None if text is None else base64.b64decode(text).decode(),
    )
    # Kubernetes's own certificates lack what this flag of newer Pythons wants.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if "client-certificate-data" in user:
        with NamedTemporaryFile() as pair:  # readable by us alone
            pair.write(base64.b64decode(user["client-certificate-data"]) + b"\n")
            pair.write(base64.b64decode(user["client-key-data"]))
            pair.flush()
            context.load_cert_chain(pair.name)
    elif "client-certificate" in user:
        context.load_cert_chain(
            str(beside / user["client-certificate"]), str(beside / user["client-key"])
        )
    return context
