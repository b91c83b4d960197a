"""The launcher. Each job of a multi-run is one job of weft, all of a launch are one batch."""

import logging
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any, Final

from hydra.core.singleton import Singleton
from hydra.core.utils import (
    JobReturn,
    JobStatus,
    configure_log,
    filter_overrides,
    run_job,
    setup_globals,
)
from hydra.errors import CompactHydraException
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict

import weft

SHOWN_LINES: Final = 10
log = logging.getLogger(__name__)


class TaskFailed(Exception):
    """What a job raises on its worker if its task did, so that it counts as failed there, too."""

    def __init__(self, job: JobReturn) -> None:
        super().__init__(job)
        self.job = job


class WeftLauncher(Launcher):
    """What Hydra calls. `options` are arguments of `weft.Executor`."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 (of the configuration)
        self._options = {name: value for name, value in options.items() if value}

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Note what is launched."""
        self._context, self._task, self._config = hydra_context, task_function, config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Run the jobs; wait for all, also if some fail."""
        setup_globals()
        configure_log(self._config.hydra.hydra_logging, self._config.hydra.verbose)
        Path(str(self._config.hydra.sweep.dir)).mkdir(parents=True, exist_ok=True)
        configs = [
            self._job_config(number, overrides)
            for number, overrides in enumerate(job_overrides, initial_job_idx)
        ]
        state = Singleton.get_state()
        try:
            with weft.Executor(**self._arguments()) as executor:
                log.info("Launching %s jobs on weft at %s", len(configs), executor.url)
                for config in configs:
                    words = " ".join(filter_overrides(config.hydra.overrides.task))
                    log.info("\t#%s : %s", config.hydra.job.num, words)
                futures = [
                    executor.submit(_run, self._context, self._task, each, state, str(Path.cwd()))
                    for each in configs
                ]
                ends = [_error(future) for future in futures]
            if executor.batch_id is None:
                raise CompactHydraException(f"weft: {ends[0]}")
            refs = [f"b{executor.batch_id}.j{future.job_id}" for future in futures]
        except weft.WeftError as error:
            raise CompactHydraException(f"weft: {error}") from None
        return [
            future.result() if error is None else self._failed(ref, config, error)
            for ref, config, future, error in zip(refs, configs, futures, ends, strict=True)
        ]

    def _job_config(self, number: int, overrides: Sequence[str]) -> DictConfig:
        config = self._context.config_loader.load_sweep_config(self._config, list(overrides))
        with open_dict(config):
            config.hydra.job.id = config.hydra.job.num = number
        return config

    def _arguments(self) -> Mapping[str, Any]:
        copied = {name: os.environ.get(name, "") for name in self._config.hydra.job.env_copy}
        options = {
            name: OmegaConf.to_container(value) if OmegaConf.is_config(value) else value
            for name, value in self._options.items()
        }
        return options | {"env": copied | options.get("env", {})}

    def _failed(self, ref: str, config: DictConfig, error: BaseException) -> JobReturn:
        """Return what Hydra raises, and say what became of the job where its users look."""
        job, cause = JobReturn(), error
        if isinstance(error, TaskFailed):
            job, cause = error.job, error.job._return_value
        job.overrides = list(config.hydra.overrides.task)
        job.status, job.return_value = JobStatus.FAILED, cause
        words = [f"weft job {ref} failed: {type(cause).__name__}: {cause}", *self._errors(ref)]
        log.error("%s", "\n".join([*words, f"more: weft logs {ref}"]))
        return job

    def _errors(self, ref: str) -> Sequence[str]:
        """Return how the errors of a job begin."""
        try:
            with weft.Client(self._options.get("url")) as client:
                text = client.get_job(ref).log(stream="stderr")
        except weft.WeftError as error:
            return [f"  its output cannot be had: {error}"]
        return [f"  {line[:300]}" for line in text.splitlines()[:SHOWN_LINES]]


def _error(future: Future[JobReturn]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _run(
    context: HydraContext, task: TaskFunction, config: DictConfig, state: object, folder: str
) -> JobReturn:
    """Run one job, on its worker."""
    setup_globals()
    Singleton.set_state(state)
    Path(folder).mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    with open_dict(config):
        config.hydra.job.id = os.environ.get("WEFT_JOB", config.hydra.job.id)
    job = run_job(
        hydra_context=context,
        task_function=task,
        config=config,
        job_dir_key="hydra.sweep.dir",
        job_subdir_key="hydra.sweep.subdir",
    )
    if job.status == JobStatus.FAILED:
        raise TaskFailed(job) from job._return_value
    return job
