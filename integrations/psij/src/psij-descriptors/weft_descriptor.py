"""What PSI/J finds: the executor `weft`."""

from packaging.version import Version
from psij.descriptor import Descriptor

__PSI_J_EXECUTORS__ = [
    Descriptor(
        name="weft",
        nice_name="weft",
        version=Version("0.1.0"),
        cls="weft_psij.executor.WeftJobExecutor",
    )
]
