"""executorlib's functions on weft: `WeftExecutor()` in the place of `SingleNodeExecutor()`."""

from weft_executorlib.executor import WeftExecutor

__all__ = ["WeftExecutor"]
