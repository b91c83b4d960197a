"""The secrets of an attempt: a Secret of Kubernetes that its pod owns, and is deleted with.

The pod names it and has no value. It must be there before the pod begins, and its owner before it:
so the pod is made with a gate, which is opened once the Secret is there.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.core.errors import Invalid
from weft.ports.runner import GivenSecret
from weft.wire.documents.secrets import SecretUse

GATE: Final = "weft/secrets"
OPEN: Final = {"spec": {"schedulingGates": None}}
"""The change of a pod that lets it begin."""
DIRECTORY: Final = "/run/weft-secrets"
_VARIABLE: Final = "WEFT_SECRETS_DIR"
_VOLUME: Final = "secrets"
_READABLE: Final = 0o444
"""By the pod's user, whoever that is; nobody else is in the pod."""


def is_gated(pod: Mapping[str, Any]) -> bool:
    """Say whether a pod waits for its Secret."""
    return any(one["name"] == GATE for one in pod["spec"].get("schedulingGates") or ())


def give_secrets(pod: dict[str, Any], uses: Sequence[SecretUse]) -> None:
    """Let a pod refer to its secrets, by the names that `secret_of` gives them."""
    if any(one.registry is not None for one in uses):
        raise Invalid(
            "Kubernetes pulls images with secrets of its own",
            hint="Let the service account of the namespace have `imagePullSecrets`.",
        )
    spec, name = pod["spec"], pod["metadata"]["name"]
    spec["schedulingGates"] = [{"name": GATE}]
    container = spec["containers"][0]
    given = {use.env for use in uses}
    container["env"] = [one for one in container["env"] if one["name"] not in given]
    for number, use in enumerate(uses):
        if use.env is not None:
            known = {"secretKeyRef": {"name": name, "key": _key(number)}}
            container["env"].append({"name": use.env, "valueFrom": known})
    items = [{"key": _key(n), "path": use.file} for n, use in enumerate(uses) if use.file]
    if items:
        source = {"secretName": name, "items": items, "defaultMode": _READABLE}
        spec["volumes"] = [{"name": _VOLUME, "secret": source}]
        mount = {"name": _VOLUME, "mountPath": DIRECTORY, "readOnly": True}
        container["volumeMounts"] = [mount]
        container["env"].append({"name": _VARIABLE, "value": DIRECTORY})


def secret_of(pod: Mapping[str, Any], secrets: Sequence[GivenSecret]) -> dict[str, Any]:
    """Return the Secret of a pod that has been made."""
    return owned_secret(pod, {_key(number): secret.value for number, secret in enumerate(secrets)})


def owned_secret(pod: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """Return a Secret that has the name of a pod, and goes with it."""
    meta = pod["metadata"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": meta["name"],
            "labels": meta["labels"],
            "ownerReferences": [owner],
        },
        "immutable": True,
        "stringData": values,
    }


def _key(number: int) -> str:
    return f"s{number}"
