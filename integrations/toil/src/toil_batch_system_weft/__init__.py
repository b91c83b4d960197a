"""Toil on weft: importing this makes `--batchSystem weft` known, as Toil does with all modules of
such names.
"""

from toil.batchSystems.abstractBatchSystem import AbstractBatchSystem
from toil.batchSystems.registry import add_batch_system_factory


def weft_batch_system() -> type[AbstractBatchSystem]:
    """Return the class; Toil's workers import this package, too, and need no client of weft."""
    from toil_batch_system_weft.batch_system import WeftBatchSystem  # noqa: PLC0415

    return WeftBatchSystem


add_batch_system_factory("weft", weft_batch_system)
