"""Assignments as messages to the spawner, each of a bounded size."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from weft.core.errors import WeftError
from weft.core.files.products import PRODUCTS_VARIABLE
from weft.core.notes import NOTES_ENDING
from weft.plugins.runners.spawner.job_cgroups import cgroup_limits
from weft.plugins.runners.spawner.sandbox import find_no_network, find_own_root
from weft.ports.executor import (
    CgroupTerms,
    ExecutorLimits,
    SpawnerExecutor,
    ToStart,
    limits_of_job,
)
from weft.ports.runner import Assignment, GivenSecret, check_requirements
from weft.wire.spawner import Account, Cgroup, Start, StartProcess
from weft.wire.spec import REQUIREMENTS, JobSpec

MESSAGE_BYTES: Final = 8 << 20


class Outgoing:
    """Messages that are being filled. Data that many processes share is in each message once."""

    def __init__(
        self,
        send: Callable[[Start], object],
        executors: Mapping[str, SpawnerExecutor],
        limits: ExecutorLimits,
    ) -> None:
        self._send = send
        self._executors = executors
        self._limits = limits
        self._hidden_files = limits.hidden_files() if limits.sandbox else ()
        self._begin()

    def add(self, one: Assignment) -> None:
        """Add one attempt. Raise `WeftError` if it cannot be run."""
        spec = one.spec
        executor = self._executors.get(spec.executor)
        if executor is None:
            raise WeftError(f"this worker has no executor {spec.executor!r}")
        check_requirements(spec, REQUIREMENTS)
        process = executor.start_of(
            ToStart(
                one.key,
                spec,
                limits_of_job(self._limits, spec),
                cpu_m=one.cpu_m,
                memory_mib=one.memory_mib,
                gpu=one.gpu,
                environment=self._environment(executor.environment_of(spec)),
                definition=self._definition(executor, one),
            )
        )
        if one.gpu:
            process = msgspec.structs.replace(process, gpu=one.gpu)
        if one.passes or spec.identity:
            process = msgspec.structs.replace(
                process, passes=one.passes, merged=spec.identity is not None
            )
        if one.directory is not None:
            process = msgspec.structs.replace(process, directory=one.directory)
        if one.secrets:
            process = _with_secrets(process, one.secrets)
        if self._limits.sandbox and not process.is_contained:
            if process.warm is not None:
                raise WeftError("a worker whose jobs run in sandboxes calls no functions")
            sandbox = self._limits.sandbox
            if spec.requirements is not None and spec.env:  # they are in the home, which is hidden
                packages = spec.env["VIRTUAL_ENV"]  # ours; a secret may have that name
                sandbox = (*sandbox, "--ro-bind", packages, packages)
            if self._limits.progress_files:
                file = f"{self._limits.progress_files}/{process.key.name}"
                notes = f"{file}{NOTES_ENDING}"
                Path(file).touch(0o600)
                Path(notes).mkdir(0o700, exist_ok=True)
                sandbox = (*sandbox, "--bind", file, file, "--bind", notes, notes)
            process = msgspec.structs.replace(
                process, sandbox=sandbox, hidden_files=self._hidden_files
            )
        if spec.own_paths and process.is_contained:
            process = msgspec.structs.replace(process, own_paths=spec.own_paths)
        elif spec.own_paths:
            process = self._with_own_paths(process, spec.own_paths)
        if spec.network is False and not process.is_contained:
            process = _without_network(process)
        if one.account is not None:
            process = _under(one.account, process, spec)
        if self._limits.cgroup is not None and process.warm is None:
            process = _limited(process, self._limits.cgroup)
        self._message.processes.append(process)
        self._bytes += _size_of(process)
        if self._bytes > MESSAGE_BYTES:
            self.send()

    def _with_own_paths(self, process: StartProcess, paths: tuple[str, ...]) -> StartProcess:
        """Return the process that finds its own directory at these paths, too."""
        sandbox, why_not = self._limits.sandbox, "it names another directory to run in"
        if process.cwd is None and sandbox:
            missing = [path for path in paths if not os.path.isdir(path)]  # noqa: PTH112 (text)
            why_not = f"in its sandboxes there is no directory {missing[0]}" if missing else ""
        elif process.cwd is None:
            own_root = find_own_root()
            sandbox, why_not = own_root.words, own_root.why_not
        if why_not:
            raise WeftError(
                f"the worker cannot give it a directory of its own at {', '.join(paths)}: "
                f"{why_not} (`weft doctor` says more)"
            )
        return msgspec.structs.replace(process, sandbox=sandbox, own_paths=paths)

    def send(self) -> None:
        """Send the message that is being filled."""
        if self._message.processes:
            self._send(self._message)
            self._begin()

    def _begin(self) -> None:
        self._message = Start([], [], [])
        self._bytes = 0
        self._environments: dict[int, int] = {}
        self._definitions: dict[tuple[int, int], int | None] = {}

    def _environment(self, environment: dict[str, str]) -> int:
        index = self._environments.get(id(environment))
        if index is None:
            index = self._environments[id(environment)] = len(self._message.environments)
            self._message.environments.append(environment)
        return index

    def _definition(self, executor: SpawnerExecutor, assignment: Assignment) -> int | None:
        """Return the index of the definition that the job shares, or carries itself."""
        found = executor.definition_of(assignment.spec) if assignment.spec.shares is None else None
        if assignment.spec.shares is None and found is None:
            return None
        if assignment.definer not in self._definitions:
            if assignment.shared is not None:
                found = executor.definition_of(assignment.shared)
            index = None if found is None else len(self._message.definitions)
            self._definitions[assignment.definer] = index
            if found is not None:
                self._message.definitions.append((assignment.definer[1], found))
                self._bytes += len(found)
        return self._definitions[assignment.definer]


def _with_secrets(process: StartProcess, secrets: Sequence[GivenSecret]) -> StartProcess:
    """Return the process with its secrets, which win over variables of its document."""
    variables = {secret.use.env: secret.value for secret in secrets if secret.use.env is not None}
    files = {secret.use.file: secret.value for secret in secrets if secret.use.file is not None}
    return msgspec.structs.replace(
        process, env={**process.env, **variables}, memory_files=files or None
    )


def _without_network(process: StartProcess) -> StartProcess:
    """Return the process in a network namespace of its own. Never lets it run with the network."""
    if process.warm is not None:
        raise WeftError("calls of functions share processes, which have the network")
    sandbox = find_no_network(process.sandbox or ())
    if not sandbox.words:
        raise WeftError(
            f"the worker cannot keep it from the network: {sandbox.why_not} "
            "(`weft doctor` says more)"
        )
    return msgspec.structs.replace(process, sandbox=sandbox.words)


def _under(account: Account, process: StartProcess, spec: JobSpec) -> StartProcess:
    """Return the process with its account, whose name and home it is told as in a login."""
    if process.is_contained:
        raise WeftError("a worker whose jobs run under accounts of their users has no containers")
    if process.own_paths:
        raise WeftError("a worker whose jobs run under accounts of their users binds no paths")
    if spec.network is False:
        raise WeftError(
            "a worker whose jobs run under accounts of their users keeps none from the network"
        )
    if process.warm is not None:
        raise WeftError("a worker whose jobs run under accounts of their users calls no functions")
    env = process.env
    if spec.inherit_env is None:
        own = {"HOME": account.home, "LOGNAME": account.name, "USER": account.name}
        env = {**own, **env}
    if products := env.get(PRODUCTS_VARIABLE):
        _make_own(products, account)
    return msgspec.structs.replace(process, env=env, account=account)


def _make_own(path: str, account: Account) -> None:
    """Make the file in which an attempt names its products. Its account may write it, and neither
    list the directory nor put anything else in its place.
    """
    os.chmod(os.path.dirname(path), 0o711)  # noqa: PTH101, PTH120, S103 (texts; no list)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.fchown(descriptor, account.uid, account.gid)
    finally:
        os.close(descriptor)


def _limited(process: StartProcess, terms: CgroupTerms) -> StartProcess:
    """Return the process with a cgroup that limits it to what it reserves."""
    limits = cgroup_limits(
        cpu_m=process.cpu_m,
        memory_mib=process.memory_mib,
        has_quota=terms.has_quota,
        processes_max=terms.processes_max,
    )
    return msgspec.structs.replace(process, cgroup=Cgroup(terms.directory, limits))


def _size_of(process: StartProcess) -> int:
    """Return the approximate size of the long fields."""
    texts = len(process.stdin or "") + len(process.script or "") + sum(map(len, process.argv))
    texts += sum(map(len, (process.memory_files or {}).values()))
    return texts + (len(process.warm.body) if process.warm else 0)
