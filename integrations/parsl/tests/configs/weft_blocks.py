"""Parsl's own tests on blocks of workers."""

from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.launchers import SimpleLauncher
from weft_parsl import WeftProvider


def fresh_config() -> Config:
    provider = WeftProvider(init_blocks=1, max_blocks=1, launcher=SimpleLauncher())
    executor = HighThroughputExecutor(
        label="weft", loopback_address="127.0.0.1", cores_per_worker=0.5, provider=provider
    )
    return Config(executors=[executor], strategy="none")
