"""The pod of an attempt, and the one that takes the name of an attempt which is not wanted."""

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from weft.core.errors import Invalid
from weft.core.files.products import PRODUCTS_VARIABLE
from weft.core.states import AttemptKey
from weft.plugins.executors.job_environment import (
    SHELL,
    environment_elsewhere,
    program_of,
    timeout_ms_of,
)
from weft.plugins.runners.remote.handles import Dialect, check_program
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.spec import JobSpec
from weft_kubernetes.runner.secrets import give_secrets
from weft_kubernetes.settings import KubernetesSettings

TAG: Final = "weft/tag"
ATTEMPT: Final = "weft/attempt"
STATE: Final = "weft/state"
GIVEN: Final = "given"
WITHDRAWN: Final = "withdrawn"
"""The state of a pod that only holds the name of an attempt: it is never scheduled."""
LIMIT: Final = "weft/limit-ms"
UNTIL_BEGUN_S: Final = 86_400
"""How long a pod with a time limit may need until it runs, as far as the cluster minds."""
AVOIDED: Final = "weft/avoided"
"""The annotation with the names of the nodes on which a pod must not run."""
VERDICT: Final = "weft/verdict"
"""The annotation that says why the gateway ends a pod."""
COLLECTED: Final = "weft/collected"
"""The finalizer of a pod whose end is not collected yet."""
JOB: Final = "job"
"""The name of its one container."""
PRODUCTS: Final = "/dev/termination-log"
"""The file of a container whose content Kubernetes keeps with its end."""
PRODUCT_BYTES: Final = 4096
"""It keeps the end of longer ones."""
_KUBERNETES: Final = Dialect("Kubernetes", ("kubernetes", "process", "container"))
"""Executors of the specs that are understood: the others are those of a spec
that names none, without and with a container."""
_DOCKER: Final = "docker://"
_ARGUMENT_MAX: Final = 100_000
"""The kernel takes no longer one."""
_PLACE: Final = "registry.k8s.io/pause"
"""Never pulled: what holds a name is never scheduled."""


def pod_of(
    name: str,
    assignment: Assignment,
    settings: KubernetesSettings,
    limits: ExecutorLimits,
    *,
    tag: str,
    avoided: Sequence[str] = (),
) -> dict[str, Any]:
    """Return an attempt's pod, off these nodes. Raise `Invalid` if there cannot be one."""
    spec = assignment.spec
    _check(spec)
    container: dict[str, Any] = {
        "name": JOB,
        "image": _image_of(spec, settings),
        "resources": _resources_of(assignment, settings),
        "env": [
            {"name": key, "value": literal(text)}
            for key, text in _environment_of(assignment.key, spec, limits).items()
        ],
        "securityContext": {"allowPrivilegeEscalation": False, **_user_of(spec)},
        "terminationMessagePath": PRODUCTS,
    }
    if command := _command_of(spec):
        container["command"] = [literal(word) for word in command]
    if spec.cwd is not None:
        container["workingDir"] = spec.cwd
    pod_spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": seconds_of(limits.grace_ms),
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    }
    annotations = {}
    limit_ms = timeout_ms_of(spec)
    if limit_ms is not None:
        # It counts from before the image is pulled, and can be lowered only: see `deadline_of`.
        pod_spec["activeDeadlineSeconds"] = seconds_of(limit_ms) + UNTIL_BEGUN_S
        annotations[LIMIT] = str(limit_ms)
    if avoided:
        pod_spec["affinity"] = _apart_from(avoided)
        annotations[AVOIDED] = ",".join(avoided)
    pod = _head(name, assignment.key.name, GIVEN, tag)
    pod["metadata"] |= {"annotations": annotations, "finalizers": [COLLECTED]}
    pod["spec"] = pod_spec
    if spec.secrets:
        give_secrets(pod, spec.secrets)
    return pod


def placeholder_of(name: str, attempt: str, *, tag: str) -> dict[str, Any]:
    """Return a pod that takes the name of an attempt, and is never scheduled."""
    return {
        **_head(name, attempt, WITHDRAWN, tag),
        "spec": {
            "schedulingGates": [{"name": "weft/withdrawn"}],
            "automountServiceAccountToken": False,
            "containers": [{"name": JOB, "image": _PLACE}],
        },
    }


def _apart_from(nodes: Sequence[str]) -> dict[str, Any]:
    fields = [{"key": "metadata.name", "operator": "NotIn", "values": [node]} for node in nodes]
    terms = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def seconds_of(ms: float) -> int:
    """Return whole seconds, at least one: Kubernetes takes no others."""
    return max(1, math.ceil(ms / 1000))


def _head(name: str, attempt: str, state: str, tag: str) -> dict[str, Any]:
    labels = {TAG: tag, ATTEMPT: attempt, STATE: state}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}}


def _check(spec: JobSpec) -> None:
    check_program(spec, _KUBERNETES)
    if spec.container is not None and spec.container.mounts:
        raise Invalid(
            "a pod of weft has no mounts of its node", hint="Fetch what it reads in the job."
        )


def _image_of(spec: JobSpec, settings: KubernetesSettings) -> str:
    if spec.container is None:
        if settings.kubernetes_image:
            return settings.kubernetes_image
        raise Invalid(
            "the job names no image", hint="Give it a container, or set `kubernetes_image`."
        )
    image = spec.container.image
    if not image.startswith(_DOCKER):
        raise Invalid(f"Kubernetes pulls no such image: {image}", hint=f"Name one of {_DOCKER}.")
    image = image.removeprefix(_DOCKER)
    patterns = [one.strip() for one in settings.kubernetes_images.split(",")]
    if not any(fnmatchcase(image, pattern) for pattern in patterns):
        raise Invalid(
            f"the gateway runs no such image: {image}", hint="See the setting `kubernetes_images`."
        )
    return image


def _user_of(spec: JobSpec) -> dict[str, int]:
    if spec.container is None or spec.container.user is None:
        return {}
    uid, _, gid = spec.container.user.partition(":")
    if not uid.isdecimal() or (gid and not gid.isdecimal()):
        raise Invalid(
            f"Kubernetes knows users by number: {spec.container.user}",
            hint="Write uid or uid:gid.",
        )
    return {"runAsUser": int(uid), **({"runAsGroup": int(gid)} if gid else {})}


def _resources_of(one: Assignment, settings: KubernetesSettings) -> dict[str, Any]:
    memory = f"{max(one.memory_mib, 1)}Mi"
    limits: dict[str, str] = {"memory": memory}
    if one.gpu:
        limits[settings.kubernetes_gpu] = str(one.gpu)
    return {"requests": {"cpu": f"{max(one.cpu_m, 1)}m", "memory": memory}, "limits": limits}


def _environment_of(key: AttemptKey, spec: JobSpec, limits: ExecutorLimits) -> dict[str, str]:
    return {
        **environment_elsewhere(key, spec, limits, {}),
        **({PRODUCTS_VARIABLE: PRODUCTS} if limits.product_files else {}),
    }


def _command_of(spec: JobSpec) -> list[str]:
    """Return the argv; empty: what the image says."""
    argv, script = program_of(spec)
    if script is None and not argv and spec.container is None:
        argv = (SHELL, "-c", "exit 0")
    lines, words = [], []
    if spec.umask is not None:
        lines.append(f"umask {int(spec.umask, 8):o}")
    if spec.stdin is not None:
        lines.append('f=$(mktemp) && printf %s "$1" >"$f" && exec <"$f" && shift || exit 126')
        words.append(spec.stdin)
    if script is not None:
        lines.append('p=$(mktemp) && printf %s "$1" >"$p" && chmod 700 "$p" && shift || exit 126')
        words.append(script)
    if any(len(word.encode()) > _ARGUMENT_MAX for word in (*words, *argv)):
        raise Invalid(
            f"a pod takes no text of more than {_ARGUMENT_MAX} bytes",
            hint="Put the script into the image, or fetch it in the job.",
        )
    if not lines:
        return list(argv)
    if script is None and not argv:
        raise Invalid(
            "a job with `stdin` or `umask` needs a command", hint="Write what the image runs."
        )
    lines.append('exec "$p" "$@"' if script is not None else 'exec "$@"')
    return [SHELL, "-c", "\n".join(lines), SHELL, *words, *argv]


def literal(text: str) -> str:
    """Return a text of which Kubernetes makes the given one: it replaces `$(NAME)`."""
    return text.replace("$", "$$")
