"""Toil's own tests of batch systems, with that of weft, on the weft of `WEFT_HOME`."""

from toil.test.batchSystems.batchSystemTest import AbstractBatchSystemJobTest, hidden
from toil_batch_system_weft.batch_system import WeftBatchSystem


class WeftBatchSystemTest(hidden.AbstractBatchSystemTest):
    def supportsWallTime(self) -> bool:
        return True

    def createBatchSystem(self) -> WeftBatchSystem:
        return WeftBatchSystem(config=self.config, maxCores=2, maxMemory=1e9, maxDisk=2001)


class TestWeftBatchSystemJob(AbstractBatchSystemJobTest):
    def getBatchSystemName(self) -> str:
        return "weft"
