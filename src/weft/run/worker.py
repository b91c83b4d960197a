"""The worker's agent as a process: `python -m weft.run.worker`."""

import asyncio
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from weft import __version__
from weft.core.billing.resources import MIB
from weft.core.errors import WeftError
from weft.core.loop_periods import first_look_s
from weft.core.scheduling import time_limits
from weft.core.scheduling.offers import (
    CONSUMES,
    MACHINE,
    Offer,
    parse_labels,
    parse_offers,
    parse_queues,
)
from weft.core.text.texts import parse_paths
from weft.plugins.executors.container.settings import ContainerSettings
from weft.plugins.executors.function.settings import FunctionSettings
from weft.plugins.file_stores.weft import KeptFiles
from weft.plugins.log_stores.files.settings import FilesSettings
from weft.plugins.runners.spawner.sandbox import NoSandbox, sandbox_words
from weft.ports.executor import (
    EXECUTOR_PLUGINS,
    ExecutorLimits,
    ExecutorSite,
    JobExecutor,
    PreparingExecutor,
    TenantOf,
    one_tenant,
)
from weft.ports.extension import workers_outside
from weft.ports.patience import end_tasks, tasks_beside
from weft.ports.plugins import loaded
from weft.ports.runner import RUNNER_PLUGINS, Runner, RunnerSite, Sampling
from weft.ports.topics import JobTopics
from weft.ports.transport import Transport
from weft.run.child import DRAINED, is_supervised
from weft.run.credential_files import CredentialFiles
from weft.run.files import KeepsFilesToo, file_site_of
from weft.run.home import Home
from weft.run.host.gpus import gpus_of
from weft.run.host.job_accounts import cgroup_of, job_accounts, job_directory
from weft.run.host.worker_name import file_name_of, holding_name, worker_name
from weft.run.job_topics import opened_job_topics
from weft.run.log_stores import log_store_at
from weft.run.metrics_file import leaving_metrics
from weft.run.role_main import Told, run_role, succeeded, until_told
from weft.run.transports import opened_transports
from weft.run.worker_source import WorkerSource, direct_source
from weft.settings import InvalidSetting, Settings
from weft.settings.transports_file import known_transports
from weft.telemetry.log import log
from weft.wire.spawner import WarmLimits
from weft.worker.agent.agent import Agent
from weft.worker.agent.attempt_files import BLOCKS, MESSAGES, PRODUCTS, PROGRESS
from weft.worker.agent.checkpoints import CheckpointRemoval, TravelSite
from weft.worker.agent.job_accounts import JobTenants
from weft.worker.agent.site import AgentSite, Consumed, Disks, FenceTerms, WorkerFacts

RUNNER: Final = "simulation"
_MEMORY_SHARE = 0.9
_FENCE_MARGIN_S = 3.0
_RETURN_MARGIN_S = 2.0


def main() -> int:
    """Work until SIGTERM, or until this worker is drained; return the exit code."""
    return run_role("worker", _work)


async def _work(settings: Settings, name: str, told: Told) -> int:
    home = Home(settings.home)
    home.prepare()
    if not is_supervised():  # beside the worker of `weft up` on the same home
        name = f"{name}-{file_name_of(settings)}"
    is_outside = settings.connect is not None and not is_supervised()
    opened = (loaded(workers_outside().source) if is_outside else direct_source)(settings, home)
    workers = workers_of(settings)
    with ExitStack() as until_exit:
        for one in workers:
            until_exit.enter_context(holding_name(one, home.run))
        unready = {worker_name(worker) for worker in workers}

        def say_ready(worker: str) -> None:
            if not unready:  # once registered, it may have to register again
                return
            unready.discard(worker)
            if not unready:
                until_exit.enter_context(home.saying_ready(name))
                log.info("role.started", version=__version__, home=str(home.path))

        async with (
            leaving_metrics(home, name, every_s=settings.heartbeat_s),
            opened as source,
            opened_transports(settings) as transports,
            opened_job_topics(settings, source.runs) as job_topics,
        ):
            finding = asyncio.create_task(source.find_logs())
            if not await succeeded(told, finding):
                return 0
            logs = finding.result()
            beside = source.begin_beside(logs)
            agents = [
                _agent_of(
                    worker,
                    source,
                    home,
                    logs,
                    transports,
                    job_topics,
                    partial(say_ready, worker_name(worker)),
                )
                for worker in workers
            ]
            running = asyncio.create_task(_run_all(agents))
            is_told = await _until_told(told, agents, running, *beside)
            begun = time.monotonic()
            if is_told:
                first, *others = agents
                await asyncio.gather(
                    first.detach() if settings.detach_jobs else first.stop(),
                    *(other.stop() for other in others),
                )
            await end_tasks((running, *beside))
    log.info("role.stopped", ms=round((time.monotonic() - begun) * 1000))
    return 0 if is_told or not is_supervised() else DRAINED


async def _until_told(told: Told, agents: Sequence[Agent], *running: asyncio.Task[None]) -> bool:
    """Do as `until_told`; what fails may run beside the agents, which are still at work then."""
    try:
        return await until_told(told, *running)
    except WeftError:
        await asyncio.gather(*(agent.abandon() for agent in agents))
        raise


def _agent_of(
    settings: Settings,
    source: WorkerSource,
    home: Home,
    logs: Path,
    transports: Mapping[str, Transport],
    job_topics: Sequence[JobTopics],
    on_ready: Callable[[], None],
) -> Agent:
    store, checkpoints = source.store, _checkpoints(settings, home, logs)
    site = AgentSite(
        store=store,
        notices=source.notices,
        giving=source.giving,
        runner=make_runner(settings, home, logs, job_topics, JobTenants(store).name_of),
        facts=facts_of(settings, home, logs, source.shipped_to(logs.name)),
        grace_ms=limits_of(settings).grace_ms,
        heartbeat_s=heartbeat_s(settings),
        fence=fence_of(source.lost_after_s, source.find_database),
        open_secrets=source.open_secrets,
        signatures=source.signatures,
        consumed=(
            Consumed(transports=transports, store=source.offered)
            if settings.transports_file and source.offered
            else None
        ),
        accounts=job_accounts(settings, store),
        scratch=_scratch(settings, home),
        files=file_site_of(
            settings, home, logs, source.signer, _scratch(settings, home), source.files
        ),
        settings=settings,
        disks=Disks((logs, job_directory(settings, home)), settings.worker_free_bytes_min),
        log_keeper=KeepsFilesToo(
            source.keeper_with(log_store_at(settings.log_store, logs).keeper()),
            KeptFiles(home.files / logs.name),
        ),
        checkpoint_removal=CheckpointRemoval(
            store, checkpoints, again_s=settings.checkpoint_look_s
        ),
        checkpoint_travel=None
        if source.checkpoints is None
        else TravelSite(
            root=checkpoints,
            worker=_scratch(settings, home).name,
            carrier=source.checkpoints,
            every_s=settings.checkpoint_ship_s,
            bytes_max=settings.checkpoint_bytes_max,
        ),
    )
    return Agent(site, on_ready=on_ready)


async def _run_all(agents: Sequence[Agent]) -> None:
    """Run all until the first has ended. The others are beside it: one that is drained stays
    away, and when the first is drained, they stop with it.
    """
    first, *beside = agents
    running = asyncio.create_task(first.run())
    staying = [asyncio.create_task(_run_and_stay(agent)) for agent in beside]
    tasks = [running, *staying]
    async with tasks_beside(tasks):
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
        await asyncio.gather(*(agent.stop() for agent in beside))


async def _run_and_stay(agent: Agent) -> None:
    await agent.run()
    await asyncio.Event().wait()


def make_runner(
    settings: Settings,
    home: Home,
    logs: Path,
    job_topics: Sequence[JobTopics] = (),
    tenant_of: TenantOf = one_tenant,
) -> Runner:
    """Return the runner that the settings name, with the executors that translate for it."""
    facts = facts_of(settings, home, logs)
    file_name = file_name_of(settings)
    return RUNNER_PLUGINS.load(settings.runner)(
        RunnerSite(
            worker=facts.name,
            file_name=file_name,
            run=home.run,
            state=home.path / "runners" / f"{settings.runner}-{file_name}",
            scratch=_scratch(settings, home),
            checkpoints=_checkpoints(settings, home, logs),
            accounts=settings.run_as == "user",
            logs=logs,
            log_writer=log_store_at(settings.log_store, logs).writer(),
            log_store=settings.log_store,
            role_logs=home.role_logs,
            cpu_m=facts.cpu_m,
            memory_mib=facts.memory_mib,
            limits=_limits_here(settings, home),
            section=settings.section,
            executors=_settled(executors_of(settings), settings, home, tenant_of),
            tenant_of=tenant_of,
            warm=warm_limits_of(settings),
            job_namespace=settings.job_namespace,
            job_topics=[
                replace(topic, limit=min(topic.limit, facts.slots or 1)) for topic in job_topics
            ],
            gpus=gpus_of(settings),
            sampling=Sampling(
                period_ms=round(settings.usage_sample_s * 1000),
                count_max=settings.usage_samples_max,
            ),
        )
    )


def _limits_here(settings: Settings, home: Home) -> ExecutorLimits:
    """Return the limits of one attempt with its paths on this host. Accounts of users would have
    to share the directories for messages, progress and what jobs wait for, so they have none.
    """
    scratch = _scratch(settings, home)
    limits = replace(
        limits_of(settings),
        sandbox=_sandbox_of(settings, home),
        hidden_files=CredentialFiles(settings).found,
        cgroup=cgroup_of(settings, home),
        product_files=str(scratch / PRODUCTS),
    )
    if settings.run_as == "user":
        return limits
    return replace(
        limits,
        block_files=str(scratch / BLOCKS),
        message_files=str(scratch / MESSAGES),
        progress_files=str(scratch / PROGRESS),
    )


def _sandbox_of(settings: Settings, home: Home) -> tuple[str, ...]:
    """Return the command that makes the sandboxes of jobs; empty: none. Raise `NoSandbox`."""
    if settings.sandbox == "none":
        return ()
    if settings.runner != "spawner":
        raise NoSandbox(
            f"the runner {settings.runner} makes no sandboxes",
            hint="Set `sandbox` to `none`: what keeps its jobs apart is its engine.",
        )
    paths = parse_paths(settings.sandbox_paths)
    return sandbox_words(home.path, network=settings.sandbox_network, paths=paths)


def _scratch(settings: Settings, home: Home) -> Path:
    return job_directory(settings, home) / "scratch" / file_name_of(settings)


def _checkpoints(settings: Settings, home: Home, logs: Path) -> Path:
    return job_directory(settings, home) / "checkpoints" / logs.name


def facts_of(
    settings: Settings, home: Home, logs: Path, shipped_to: str | None = None
) -> WorkerFacts:
    """Return this worker's capacity: the cores it may use and most of the host's memory.
    `shipped_to`: where its output goes; None: it stays here.
    """
    memory_bytes = settings.worker_memory_bytes or int(_memory_bytes() * _MEMORY_SHARE)
    offers = _offers_of(settings)
    offers.pop("gpu", None)
    return WorkerFacts(
        name=worker_name(settings),
        host=socket.gethostname(),
        pool=settings.pool,
        version=__version__,
        cpu_m=settings.worker_cpu_m or len(os.sched_getaffinity(0)) * 1000,
        memory_mib=max(1, memory_bytes // MIB),
        storage_mib=shutil.disk_usage(home.path).free // MIB,
        gpu=len(gpus_of(settings)),
        offers={"executor": sorted(executors_of(settings)), **offers},
        slots=settings.worker_slots,
        log_place=log_store_at(settings.log_store, logs).place,
        log_directory=shipped_to or str(logs),
    )


def _offers_of(settings: Settings) -> dict[str, Offer]:
    """Return what the worker offers by its settings. Raise `InvalidSetting`."""
    offers, labels = parse_offers(settings.worker_offers), parse_labels(settings.worker_labels)
    for name in offers.keys() & labels.keys():
        raise InvalidSetting(
            f"worker_offers and worker_labels both name {name!r}",
            detail="A worker offers a name once.",
            hint="Leave it out of one of the two; `weft config` shows where each comes from.",
        )
    words = {**offers, **labels}.get(MACHINE)
    if words not in (None, [worker_name(settings)]):
        raise InvalidSetting(
            f"the label {MACHINE} is reserved",
            detail="Workers of machines that are made for one job have it; they get no other job.",
            hint="Give the label another name. A job that wants a machine names its flavour.",
        )
    slots = {} if settings.worker_slots is None else {"slots": settings.worker_slots}
    names = parse_queues(settings.worker_queues)
    queues = {"queue": names} if names else {}
    transports = [transport.name for transport in known_transports(settings.transports_file)]
    consumes = {CONSUMES: transports} if transports else {}
    walltime_s = settings.worker_walltime_s
    ends = {} if walltime_s is None else {time_limits.ASK: time_limits.longest_in(walltime_s)}
    return {**queues, **offers, **labels, **slots, **consumes, **ends}


def fence_of(lost_after_s: float, find_database: Callable[[], str]) -> FenceTerms:
    """Return after how much silence the jobs of this worker are killed on its own host: shortly
    before the database gives them to others.
    """
    return FenceTerms(
        after_s=lost_after_s - _FENCE_MARGIN_S,
        return_s=first_look_s(lost_after_s) - _RETURN_MARGIN_S,
        find_database=find_database,
    )


def heartbeat_s(settings: Settings) -> float:
    """Return the time between heartbeats: two of them within the silence that is allowed."""
    return min(settings.heartbeat_s, settings.lost_after_s / 2)


def limits_of(settings: Settings) -> ExecutorLimits:
    """Return the limits of one attempt."""
    kept = settings.section(FilesSettings)
    return ExecutorLimits(
        grace_ms=round(settings.grace_s * 1000),
        stream_bytes_max=kept.stream_bytes_max,
        stream_head_bytes=min(kept.stream_head_bytes, kept.stream_bytes_max),
        result_bytes_max=settings.section(FunctionSettings).result_bytes_max,
        product_bytes_max=settings.product_bytes_max,
    )


def warm_limits_of(settings: Settings) -> WarmLimits:
    """Return the limits of warm processes."""
    warm = settings.section(FunctionSettings)
    return WarmLimits(
        warm.warm_calls_max,
        max(1, warm.warm_memory_bytes_max // MIB),
        round(warm.warm_idle_s * 1000),
    )


def executors_of(settings: Settings) -> dict[str, JobExecutor]:
    """Return the executors that translate for this worker's runner, by name."""
    installed = {name: make() for name, make in EXECUTOR_PLUGINS.load_all().items()}
    # Functions are called in processes that many jobs share.
    is_apart = settings.sandbox != "none" or settings.run_as == "user"
    left_out = {"function"} if is_apart else set()
    if not settings.section(ContainerSettings).containers:
        left_out.add("container")
    return {
        name: executor
        for name, executor in installed.items()
        if executor.runner == settings.runner and name not in left_out
    }


def _settled(
    executors: dict[str, JobExecutor], settings: Settings, home: Home, tenant_of: TenantOf
) -> dict[str, JobExecutor]:
    """Return the executors, told where they work."""
    for executor in executors.values():
        if isinstance(executor, PreparingExecutor):
            executor.settle(
                ExecutorSite(home=home.path, section=settings.section, tenant_of=tenant_of)
            )
    return executors


def _memory_bytes() -> int:
    """Return the memory of the host, or of the control group if that is less."""
    of_host = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return of_host
    return min(of_host, int(limit)) if limit.isdigit() else of_host


def workers_of(settings: Settings) -> list[Settings]:
    """Return the settings of each worker that this process is: in `weft up` one for simulations
    besides. They share a process, because a second one would have the memory of the first again.
    """
    if settings.runner == RUNNER:
        return [_simulating(settings)]
    if not is_supervised() or not settings.simulation_slots:
        return [settings]
    name = f"{worker_name(settings)}-{RUNNER}"
    return [settings, _simulating(replace(settings, worker_name=name, worker_slots=None))]


def _simulating(settings: Settings) -> Settings:
    """Return these settings without what is of the host. A simulated job reserves 1 mCPU and no
    memory: so each slot is one.
    """
    slots = settings.worker_slots or settings.simulation_slots or 1
    return replace(
        settings,
        runner=RUNNER,
        worker_slots=slots,
        worker_cpu_m=slots,
        worker_memory_bytes=MIB,
        worker_offers="",
        worker_gpus="none",
        sandbox="none",
        run_as="worker",
        job_limits="never",
        transports_file=None,
    )


if __name__ == "__main__":
    sys.exit(main())
