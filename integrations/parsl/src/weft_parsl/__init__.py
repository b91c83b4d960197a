"""Parsl on weft: its apps by `WeftExecutor`, its blocks of workers by `WeftProvider`."""

from weft_parsl.executor import WeftExecutor
from weft_parsl.provider import WeftProvider

__all__ = ["WeftExecutor", "WeftProvider"]
