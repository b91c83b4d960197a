"""Kubernetes as an engine: an attempt is a pod. Its name is the attempt's, so it is made once."""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from weft.core.ends.conditions import Blocked
from weft.core.errors import Unavailable, WeftError
from weft.core.states import Command, Reason
from weft.plugins.runners.remote import Left, Status
from weft.plugins.runners.remote.outputs import live_bytes, pieces_of, room_of
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored, StoredStream
from weft.ports.patience import end_tasks, wait_at_most
from weft.ports.runner import Assignment
from weft.telemetry.log import log
from weft.wire.log_format import STDOUT, Piece
from weft.wire.spec import CONTAINER, SECRETS
from weft_kubernetes.runner.client import (
    KubernetesClient,
    KubernetesRefused,
    NoLog,
)
from weft_kubernetes.runner.pods import (
    ATTEMPT,
    COLLECTED,
    LIMIT,
    STATE,
    TAG,
    VERDICT,
    WITHDRAWN,
    placeholder_of,
    pod_of,
    seconds_of,
)
from weft_kubernetes.runner.secrets import OPEN, is_gated, secret_of
from weft_kubernetes.runner.statuses import (
    NEVER_AN_IMAGE,
    NO_IMAGE,
    Seen,
    age_s,
    avoided_by,
    deadline_of,
    has_begun,
    is_only_barred,
    is_over,
    memory_of,
    products_of,
    started_at,
    state_of,
    status_of,
    verdict_of,
)
from weft_kubernetes.settings import KubernetesSettings

_LOOK_S: Final = 5.0
_AGAIN_S: Final = 1.0
_LIVE_MAX: Final = 4 << 20
"""Bytes of a log that are followed; nodes begin a new one after 10 MiB."""
_READ_PER_S: Final = 1 << 18
"""Bytes of one log that are read each second, about."""
_MEASURE_S: Final = 10.0
"""How often pods are measured; clusters do it four times a minute."""
_NO_METRICS_S: Final = 600.0
"""For how long nobody is asked what pods use where nobody measures it."""
_HELD_S: Final = 3600.0
"""For how long a name stays taken, against what may arrive late."""


class KubernetesEngine:
    """Kubernetes, as the port of remote runners wants it."""

    meets = frozenset({CONTAINER, SECRETS})
    followed_max = 50

    def __init__(
        self,
        client: KubernetesClient,
        settings: KubernetesSettings,
        limits: ExecutorLimits,
        *,
        tag: str,
    ) -> None:
        self._client = client
        self._settings = settings
        self._limits = limits
        self._tag = tag
        self._pods: dict[str, Seen] = {}
        """By the names of attempts."""
        self._unanswered: set[str] = set()
        """Attempts of which a request to make the pod may still arrive."""
        self._keyed: set[str] = set()
        """Attempts that this agent gives their Secret; a pod of another that waits for one waits
        for ever.
        """
        self._no_image_since: dict[str, float] = {}
        self._no_log_since: dict[str, float] = {}
        self._log_at: dict[str, float] = {}
        """When the log of each attempt that runs may be read again."""
        self._avoided: list[str] = []
        self._measure_at = 0.0
        """When to ask again what pods use."""
        self._version: str | None = None
        """The one up to which `_pods` is right; None: they must be listed."""
        self._watching: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._look_s = _LOOK_S

    async def submit(
        self, assignments: Mapping[str, Assignment]
    ) -> Mapping[str, WeftError | Blocked]:
        """Make a pod for each attempt, several at a time; Kubernetes has no call for many."""
        refused: dict[str, WeftError | Blocked] = {}
        pods = {}
        for name, assignment in assignments.items():
            try:
                pods[name] = pod_of(
                    self._pod(name),
                    assignment,
                    self._settings,
                    self._limits,
                    tag=self._tag,
                    avoided=self._avoided,
                )
            except WeftError as error:
                refused[name] = error
        answers = await asyncio.gather(
            *(self._create(name, pod, assignments[name]) for name, pod in pods.items()),
            return_exceptions=True,
        )
        for name, answer in zip(pods, answers, strict=True):
            if isinstance(answer, Unavailable) or not isinstance(answer, WeftError | None):
                raise answer
            if answer is not None:
                refused[name] = answer
        return refused

    def avoid(self, nodes: Collection[str]) -> None:
        self._avoided = sorted(nodes)

    async def settle(self, names: Sequence[str]) -> None:
        """Take the names of these pods, if they are still free, with pods that are never
        scheduled: a late request finds the name taken then.
        """
        held = (placeholder_of(self._pod(name), name, tag=self._tag) for name in names)
        self._unanswered.update(names)
        await asyncio.gather(*map(self._client.create, held))
        self._version = None

    async def statuses(self, names: Sequence[str]) -> Mapping[str, Status]:
        """Say what the watch has told; without one, list all pods once."""
        self._news.clear()
        if self._version is None:
            await self._list()
        await self._measure()
        now = time.time()
        self._look_s = _LOOK_S
        found = {}
        for name in names:
            if (seen := self._pods.get(name)) is not None:
                await self._judge(name, seen, now)
                found[name] = status_of(seen, now)
        return found

    async def stop(self, names: Sequence[str], *, grace_ms: int) -> None:
        """Delete the pods. They stay readable until they are forgotten."""
        grace_s = seconds_of(grace_ms)
        await asyncio.gather(
            *(self._client.delete(self._pod(name), grace_s=grace_s) for name in names)
        )

    async def tell(self, one: Assignment, command: Command) -> str:  # noqa: ARG002 (for all alike)
        """Refuse: there is no call for it."""
        what = "moves no time limit" if command.signal is None else "sends no signals"
        return f"Kubernetes {what}"

    async def grown(self, stored: Mapping[str, Stored]) -> Mapping[str, Sequence[Piece]]:
        """Ask nodes for what is new. They know no offsets, so each log is read from its start: the
        longer it is, the more rarely.
        """
        answers = await asyncio.gather(
            *(self._grown(name, has.stdout) for name, has in stored.items())
        )
        return {name: pieces for name, pieces in zip(stored, answers, strict=True) if pieces}

    async def _grown(self, name: str, has: StoredStream) -> list[Piece]:
        more = min(live_bytes(has, self._limits), _LIVE_MAX - has.kept)
        if more <= 0 or time.monotonic() < self._log_at.get(name, 0.0):
            return []
        self._log_at[name] = time.monotonic() + has.written / _READ_PER_S
        try:
            text = await self._client.log(
                self._pod(name), skip=has.written, bytes_max=more, head_bytes=more, is_live=True
            )
        except (NoLog, WeftError):
            return []  # the node starts it yet, or is away
        return pieces_of(STDOUT, text.head)

    async def output(self, name: str, stored: Stored) -> Sequence[Piece]:
        """Return the rest of what the job wrote: the beginning and the end of what is too long.
        Kubernetes keeps one stream.
        """
        has = stored.stdout
        bytes_max, head_bytes = room_of(has, self._limits)
        try:
            head, cut, tail = await self._client.log(
                self._pod(name), skip=has.written, bytes_max=bytes_max, head_bytes=head_bytes
            )
        except (NoLog, Unavailable) as error:
            await self._client.get(self._pod(name))  # raises if it is not the node that is away
            now = time.monotonic()
            since = self._no_log_since.setdefault(name, now)
            if now - since < self._settings.kubernetes_log_s and not self._is_lost(name):
                raise Unavailable(
                    f"the node does not give the output of {name}: {error}",
                    hint="The gateway asks again by itself; look at the node.",
                ) from error
            log.warning("worker.output_lost", attempt=name, why=str(error))
            return []
        return pieces_of(STDOUT, head, cut, tail)

    async def left(self, name: str) -> Left:
        seen = self._pods.get(name)
        return Left() if seen is None else Left(products_of(seen.pod))

    async def forget(self, names: Sequence[str]) -> None:
        """Let the pods go."""
        for name in names:
            for kept in (self._pods, self._no_image_since, self._no_log_since, self._log_at):
                kept.pop(name, None)
            self._keyed.discard(name)
        await asyncio.gather(*map(self._let_go, names))

    async def changed(self) -> None:
        """Return when the watch tells something, or when something is due."""
        is_watching = self._watching is not None and not self._watching.done()
        if self._version is not None and not is_watching and self._pods:
            self._watching = asyncio.create_task(self._watch(self._version))
        await wait_at_most(self._look_s, self._news)

    def _pod(self, name: str) -> str:
        return f"weft-{self._tag}-{name.removeprefix('weft-')}"

    async def _create(self, name: str, pod: Mapping[str, Any], assignment: Assignment) -> None:
        if assignment.secrets:
            self._keyed.add(name)
        is_late = name in self._unanswered
        self._unanswered.add(name)
        made = await self._client.create(pod)
        if made is None:
            made = await self._client.get(self._pod(name))
            if made is not None and _is_withdrawn(made):
                # The name was kept from a late request; now the attempt is wanted again.
                await self._client.delete(self._pod(name), grace_s=0)
                made = await self._client.create(pod)
        if made is None:
            raise Unavailable(f"pod {self._pod(name)} comes and goes", hint="It is made again.")
        if not is_late:
            self._unanswered.discard(name)
        if name not in self._pods:
            self._see(made)
        if assignment.secrets and is_gated(made):
            await self._open(name, made, assignment)

    async def _open(self, name: str, pod: Mapping[str, Any], assignment: Assignment) -> None:
        """Let a pod begin, with its secrets. One that is refused them goes."""
        try:
            await self._client.create_secret(secret_of(pod, assignment.secrets))
        except KubernetesRefused:
            await self._let_go(name)
            self._pods.pop(name, None)
            raise
        await self._client.patch(self._pod(name), OPEN)

    async def _let_go(self, name: str) -> None:
        change: dict[str, Any] = {"finalizers": None}
        if name in self._unanswered:
            self._unanswered.discard(name)
            change["labels"] = {STATE: WITHDRAWN}
            await self._client.patch(self._pod(name), {"metadata": change})
            return
        await self._client.patch(self._pod(name), {"metadata": change})
        await self._client.delete(self._pod(name), grace_s=0)

    async def _list(self) -> None:
        before = set(self._pods)
        pods, version = await self._client.listed(f"{TAG}={self._tag}")
        if self._watching is not None:
            await end_tasks([self._watching])  # it told what is older
        known = self._pods
        # What was made while the list was on its way may be missing in it.
        self._pods = {name: seen for name, seen in known.items() if name not in before}
        self._version = version
        old = []
        for pod in pods:
            name = pod["metadata"]["labels"].get(ATTEMPT, "")
            if name in known:
                self._pods[name] = known[name]
            self._see(pod)
            if _is_withdrawn(pod) and age_s(pod) > _HELD_S:
                old.append(pod["metadata"]["name"])
        await asyncio.gather(*(self._client.delete(name, grace_s=0) for name in old))

    def _see(self, pod: Mapping[str, Any]) -> None:
        """Remember a pod as it is now."""
        meta = pod["metadata"]
        name = str(meta["labels"].get(ATTEMPT, ""))
        before = self._pods.get(name)
        if before is None and (_is_withdrawn(pod) or COLLECTED not in meta.get("finalizers", ())):
            return
        now = time.time()
        _, run_at, end_at, peak = Seen(pod) if before is None else before
        if run_at is None and has_begun(pod):
            run_at = now
        if end_at is None and is_over(pod):
            end_at = now
        self._pods[name] = Seen(pod, run_at, end_at, peak)

    async def _measure(self) -> None:
        """Note what running pods use, of all at once; nothing where nobody measures it."""
        runs = any("running" in state_of(seen.pod) for seen in self._pods.values())
        if not runs or time.monotonic() < self._measure_at:
            return
        self._measure_at = time.monotonic() + _MEASURE_S
        try:
            found = await self._client.metrics(f"{TAG}={self._tag}")
        except Unavailable:
            found = None
        if found is None:
            self._measure_at = time.monotonic() + _NO_METRICS_S
        for one in found or ():
            name = str((one["metadata"].get("labels") or {}).get(ATTEMPT, ""))
            if (seen := self._pods.get(name)) is not None:
                peak = max(seen.memory_peak_bytes, memory_of(one))
                self._pods[name] = seen._replace(memory_peak_bytes=peak)

    async def _judge(self, name: str, seen: Seen, now: float) -> None:
        """End a pod that is over its time, or whose image cannot be pulled."""
        pod = seen.pod
        if is_over(pod) or "deletionTimestamp" in pod["metadata"]:
            return
        reason = verdict_of(pod)
        if reason is None:
            reason, left_s = self._due(name, seen, now)
            self._look_s = min(self._look_s, max(left_s, 0.01))
            if reason is None:
                await self._set_deadline(name, seen, now)
                return
            change = {"metadata": {"annotations": {VERDICT: reason.word}}}
            await self._client.patch(self._pod(name), change)
        await self._client.delete(self._pod(name), grace_s=seconds_of(self._limits.grace_ms))

    async def _set_deadline(self, name: str, seen: Seen, now: float) -> None:
        deadline = deadline_of(seen, now, more_s=self._settings.kubernetes_start_s)
        if deadline is not None:
            change = {"spec": {"activeDeadlineSeconds": deadline}}
            await self._client.patch(self._pod(name), change)

    def _due(self, name: str, seen: Seen, now: float) -> tuple[Reason | None, float]:
        """Return why a pod must end, or else in how many seconds to look again."""
        if is_gated(seen.pod) and name not in self._keyed:
            return Reason.PREEMPTED, 0.0  # its gateway died before it had its secrets
        avoided = avoided_by(seen.pod)
        if avoided and avoided.isdisjoint(self._avoided) and is_only_barred(seen.pod):
            return Reason.PREEMPTED, 0.0  # it is given back, to be tried there again
        limit = (seen.pod["metadata"].get("annotations") or {}).get(LIMIT)
        if limit is not None and (started := started_at(seen)) is not None:
            left_s = started + int(limit) / 1000 - now
            return (Reason.TIMEOUT if left_s <= 0 else None), left_s
        word = (state_of(seen.pod).get("waiting") or {}).get("reason")
        if word == NEVER_AN_IMAGE:
            return Reason.NO_IMAGE, 0.0
        if word not in NO_IMAGE and name not in self._no_image_since:
            return None, _LOOK_S
        since = self._no_image_since.setdefault(name, now)
        if "running" in state_of(seen.pod):
            return None, _LOOK_S
        left_s = since + self._settings.kubernetes_image_s - now
        return (Reason.NO_IMAGE if left_s <= 0 else None), left_s

    def _is_lost(self, name: str) -> bool:
        seen = self._pods.get(name)
        return seen is None or status_of(seen, time.time()).reason == Reason.LOST

    async def _watch(self, version: str) -> None:
        """Take in what happens, for half a minute or so."""
        try:
            async for event in self._client.watch(f"{TAG}={self._tag}", version):
                self._happened(event)
        except Exception:  # noqa: BLE001 (what is not understood is asked for again)
            self._version = None
            await asyncio.sleep(_AGAIN_S)
        self._news.set()

    def _happened(self, event: Mapping[str, Any]) -> None:
        pod = event["object"]
        self._version = str(pod["metadata"]["resourceVersion"])
        if event["type"] == "BOOKMARK":
            return
        if event["type"] == "DELETED":
            name = str(pod["metadata"]["labels"].get(ATTEMPT, ""))
            self._pods.pop(name, None)
        else:
            self._see(pod)
        self._news.set()


def _is_withdrawn(pod: Mapping[str, Any]) -> bool:
    return bool(pod["metadata"]["labels"].get(STATE) == WITHDRAWN)
