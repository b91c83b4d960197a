"""What `hydra.launcher.…` may say."""

from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore


@dataclass
class WeftLauncherConf:
    """Arguments of `weft.Executor`; what is not said is left to it."""

    _target_: str = "hydra_plugins.weft_launcher.launcher.WeftLauncher"
    max_workers: int | None = None
    name: str | None = "${hydra.job.name}"
    resources: dict[str, Any] = field(default_factory=dict)
    timeout_s: float | None = None
    env: dict[str, str] = field(default_factory=dict)
    max_attempts: int | None = None
    url: str | None = None


ConfigStore.instance().store(
    group="hydra/launcher", name="weft", node=WeftLauncherConf, provider="weft_launcher"
)
