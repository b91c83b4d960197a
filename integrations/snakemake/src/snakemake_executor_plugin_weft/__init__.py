"""Snakemake's jobs on weft: `snakemake --executor weft --jobs 100`."""

from dataclasses import dataclass, field
from typing import Any, Final, Optional

from snakemake_interface_executor_plugins.settings import CommonSettings, ExecutorSettingsBase

from snakemake_executor_plugin_weft.executor import Executor

__all__ = ["Executor", "ExecutorSettings", "common_settings"]

common_settings: Final = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_envvar_declarations_to_cmd=False,
    auto_deploy_default_storage_provider=False,
)


def _text(about: str) -> Any:  # noqa: ANN401 (as `field`)
    return field(default=None, metadata={"help": about})


@dataclass
class ExecutorSettings(ExecutorSettingsBase):
    """Options `--weft-…`; a resource `weft_…` of a rule goes before."""

    queue: Optional[str] = _text("Queue of all jobs without weft_queue")  # noqa: UP045 (argparse)
    machine: Optional[str] = _text("Machine of a pool, for jobs without weft_machine")  # noqa: UP045
    image: Optional[str] = _text("Image with Snakemake, for jobs without weft_image")  # noqa: UP045
