"""What Kubernetes says of the pod of an attempt."""

import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import structs

from weft.core.files.products import WrongProducts
from weft.core.states import Phase, Reason
from weft.plugins.runners.remote import Status
from weft.plugins.runners.remote.black_nodes import told_avoided
from weft_kubernetes.runner import pods

RUNS_S: Final = 10.0
NO_IMAGE: Final = frozenset({"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull"})
"""What a node says while it cannot pull: it goes on trying."""
NEVER_AN_IMAGE: Final = "InvalidImageName"
_ENDED: Final = frozenset({"Succeeded", "Failed"})
_NO_PROGRAM: Final = frozenset({"StartError", "ContainerCannotRun"})
_BY_ITSELF: Final = frozenset({"Completed", "Error", "OOMKilled"})
"""Reasons of ends whose message is what the program has written."""
_UNKNOWN: Final = "ContainerStatusUnknown"
_LOST: Final = frozenset({"NodeLost", "DeletionByPodGC", "DeletionByTaintManager"})
_PREEMPTED: Final = frozenset(
    {
        "Evicted",
        "Preempting",
        "Terminated",
        "Shutdown",
        "NodeShutdown",
        "EvictionByEvictionAPI",
        "PreemptionByScheduler",
        "TerminationByKubelet",
    }
)
_KILLED: Final = (137, 143)
_SIGNALLED: Final = 128
_LEAST_S: Final = 0.001
_SAID_MAX: Final = 200
_NO_ROOM: Final = "Insufficient"
_QUANTITY: Final = re.compile(r"(\d+)([KMGT]i)?")
_UNITS: Final[Mapping[str | None, int]] = {
    None: 1,
    "Ki": 1 << 10,
    "Mi": 1 << 20,
    "Gi": 1 << 30,
    "Ti": 1 << 40,
}


class Seen(NamedTuple):
    """A pod, and when this gateway first saw it run and end: Kubernetes tells whole seconds."""

    pod: Mapping[str, Any]
    run_at: float | None = None
    end_at: float | None = None
    memory_peak_bytes: int = 0
    """The most that its metrics showed; 0: the cluster has none."""


def memory_of(metrics: Mapping[str, Any]) -> int:
    """Return how many bytes a pod holds."""
    used = (_QUANTITY.fullmatch(metric["usage"]["memory"]) for metric in metrics["containers"])
    return sum(int(match[1]) * _UNITS[match[2]] for match in used if match is not None)


def state_of(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the state of the container: `waiting`, `running` or `terminated`."""
    found = (pod.get("status") or {}).get("containerStatuses") or ()
    return found[0].get("state") or {} if found else {}


def verdict_of(pod: Mapping[str, Any]) -> Reason | None:
    """Return why the gateway ends a pod."""
    word = (pod["metadata"].get("annotations") or {}).get(pods.VERDICT, "")
    return next((reason for reason in Reason if reason.word == word), None)


def avoided_by(pod: Mapping[str, Any]) -> frozenset[str]:
    """Return the nodes on which a pod must not run, as attempts failed there at once."""
    text = (pod["metadata"].get("annotations") or {}).get(pods.AVOIDED, "")
    return frozenset(text.split(",") if text else ())


def is_only_barred(pod: Mapping[str, Any]) -> bool:
    """Say whether a pod waits for nodes that it may not use, not for room on others."""
    said = [str(one.get("message", "")) for one in _unplaced(pod)]
    return any("affinity" in one and _NO_ROOM not in one for one in said)


def _unplaced(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    conditions = pod["status"].get("conditions") or ()
    return [
        one for one in conditions if one["type"] == "PodScheduled" and one["status"] == "False"
    ]


def products_of(pod: Mapping[str, Any]) -> bytes:
    """Return what an ended pod says that it has made. Raise `WrongProducts`."""
    done = state_of(pod).get("terminated") or {}
    if done.get("reason") not in _BY_ITSELF:
        return b""
    found = str(done.get("message") or "").encode()
    if len(found) >= pods.PRODUCT_BYTES:
        raise WrongProducts(f"Kubernetes keeps less than {pods.PRODUCT_BYTES} bytes of them")
    return found


def is_over(pod: Mapping[str, Any]) -> bool:
    """Say whether nothing of a pod runs, or ever will."""
    is_deleted = "deletionTimestamp" in pod["metadata"]
    is_placed = bool(pod["spec"].get("nodeName"))
    return pod["status"].get("phase") in _ENDED or (is_deleted and not is_placed)


def has_begun(pod: Mapping[str, Any]) -> bool:
    """Say whether the container has been started."""
    state = state_of(pod)
    return "running" in state or bool((state.get("terminated") or {}).get("startedAt"))


def age_s(pod: Mapping[str, Any]) -> float:
    """Return how long ago a pod was made."""
    return time.time() - datetime.fromisoformat(pod["metadata"]["creationTimestamp"]).timestamp()


def started_at(seen: Seen) -> float | None:
    """Return when the container was started."""
    state = state_of(seen.pod)
    told = (state.get("running") or state.get("terminated") or {}).get("startedAt")
    if not told:
        return seen.run_at
    return _between(told, seen.run_at)


def where_of(pod: Mapping[str, Any]) -> str:
    """Return what a pod is called, where it is, and what is said of it."""
    status, name = pod["status"], pod["metadata"]["name"]
    state = state_of(pod)
    found = state.get("waiting") or state.get("terminated") or {}
    node = pod["spec"].get("nodeName")
    said = [f"pod {name} on {node}" if node else f"pod {name}"]
    if unplaced := _unplaced(pod):
        said[0] += told_avoided(avoided_by(pod))
        said += [f"{one.get('reason', '')}: {one.get('message', '')}" for one in unplaced]
    said += [text for text in (status.get("reason"), status.get("message")) if text]
    message = "" if found.get("reason") in _BY_ITSELF else found.get("message")
    said += [text for text in (found.get("reason"), message) if text]
    return ", ".join(said)[:_SAID_MAX]


def status_of(seen: Seen, now: float) -> Status:
    """Return the status of an attempt."""
    status = _status_of(seen, now)
    node = str(seen.pod["spec"].get("nodeName") or "")
    return structs.replace(status, node=node, memory_peak_bytes=seen.memory_peak_bytes)


def _status_of(seen: Seen, now: float) -> Status:
    pod = seen.pod
    started, where = started_at(seen), where_of(pod)
    started_ago = None if started is None else max(0.0, now - started)
    if not is_over(pod):
        phase = Phase.QUEUED_REMOTE if started is None else Phase.EXECUTING
        return Status(phase, started_ago, message=where)
    done = state_of(pod).get("terminated") or {}
    told = done.get("finishedAt")
    ended = _between(told, seen.end_at) if told else (seen.end_at or now)
    if started is not None:
        ended = max(ended, min(started + _LEAST_S, now))
        started_ago = now - min(started, ended - _LEAST_S)
    ended_ago = max(0.0, now - ended)
    code, signal, reason = _end_of(pod, done)
    return Status(Phase.COLLECTING, started_ago, ended_ago, code, signal, where, reason)


def _end_of(
    pod: Mapping[str, Any], done: Mapping[str, Any]
) -> tuple[int | None, int | None, Reason | None]:
    """Return exit code, signal and reason."""
    code, verdict = done.get("exitCode"), verdict_of(pod)
    if done.get("reason") == _UNKNOWN:
        code = None
    if verdict is not None and (code is None or code in _KILLED):
        return None, None, verdict
    if done.get("reason") in _NO_PROGRAM:
        return None, None, Reason.NO_PROGRAM
    if (outer := _outer_reason(pod)) is not None and (code is None or code in _KILLED):
        return None, None, outer
    if code is None:
        is_begun = bool(done)
        return None, None, Reason.LOST if is_begun else Reason.SYSTEM
    if done.get("reason") == "OOMKilled":
        return code, None, Reason.OOM
    if number := done.get("signal"):
        return None, int(number), None
    if code in _KILLED and "deletionTimestamp" in pod["metadata"]:
        return None, code - _SIGNALLED, None
    return code, None, None


def _outer_reason(pod: Mapping[str, Any]) -> Reason | None:
    """Return what the cluster did to a pod, not its program."""
    status = pod["status"]
    words = {status.get("reason")} | {
        one.get("reason")
        for one in status.get("conditions") or ()
        if one["type"] == "DisruptionTarget" and one["status"] == "True"
    }
    if "DeadlineExceeded" in words:
        return Reason.TIMEOUT
    if words & _LOST:
        return Reason.LOST
    return Reason.PREEMPTED if words & _PREEMPTED else None


def deadline_of(seen: Seen, now: float, *, more_s: int) -> int | None:
    """Return the seconds after which the cluster is to end a pod that has run for a while, should
    no gateway be there to keep its limit; None: it has them, or is too young to be worth a call.
    """
    limit = (seen.pod["metadata"].get("annotations") or {}).get(pods.LIMIT)
    deadline = seen.pod["spec"].get("activeDeadlineSeconds") or 0
    taken, started = seen.pod["status"].get("startTime"), started_at(seen)
    if limit is None or taken is None or started is None or now - started < RUNS_S:
        return None
    waited = max(0.0, started - datetime.fromisoformat(taken).timestamp())
    wanted = pods.seconds_of(int(limit) + waited * 1000) + more_s
    return wanted if wanted + RUNS_S < deadline else None


def _between(told: str, seen: float | None) -> float:
    """Return a time that is told in whole seconds, as exactly as it is known."""
    at = datetime.fromisoformat(told).timestamp()
    return at if seen is None else min(max(seen, at), at + 1)
