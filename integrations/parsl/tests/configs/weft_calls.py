"""Parsl's own tests on the executor."""

from parsl.config import Config
from weft_parsl import WeftExecutor


def fresh_config() -> Config:
    return Config(executors=[WeftExecutor()])
