"""weft: a job system on PostgreSQL.

The names of this package are the public Python interface: `from weft import Client`. They are
loaded when they are first used, so that a process which needs one part of weft (the spawner) does
not pay for the rest. This file must not import anything at its top.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft import aio
    from weft.client.functions.executor import Executor
    from weft.client.functions.progress import note, progress
    from weft.client.objects.job_keywords import JobKeywords
    from weft.client.sync import (
        Batch,
        BatchBuilder,
        Client,
        GroupBuilder,
        Job,
        JobGroup,
        JobTree,
        JobTreeBuilder,
    )
    from weft.core.ends.conditions import Blocked
    from weft.core.errors import WeftError

__all__ = [
    "Batch",
    "BatchBuilder",
    "Blocked",
    "Client",
    "Executor",
    "GroupBuilder",
    "Job",
    "JobGroup",
    "JobKeywords",
    "JobTree",
    "JobTreeBuilder",
    "WeftError",
    "__version__",
    "aio",
    "note",
    "progress",
]
__version__ = "0.1.0"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # else a checker takes every name

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'weft' has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415

        if name == "aio":
            return import_module("weft.aio")
        modules = {
            "Blocked": "weft.core.ends.conditions",
            "WeftError": "weft.core.errors",
            "Executor": "weft.client.functions.executor",
            "note": "weft.client.functions.progress",
            "progress": "weft.client.functions.progress",
            "JobKeywords": "weft.client.objects.job_keywords",
        }
        return getattr(import_module(modules.get(name, "weft.client.sync")), name)
