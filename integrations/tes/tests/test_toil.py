"""Toil's own tests of batch systems, by its client of TES, on the weft of `WEFT_HOME`."""

import os

from toil.batchSystems.abstractBatchSystem import AbstractBatchSystem
from toil.common import Config
from toil.test.batchSystems.batchSystemTest import hidden
from toil_batch_system_tes.tes_batch_system import TESBatchSystem


class WeftTest(hidden.AbstractBatchSystemTest):
    def supportsWallTime(self) -> bool:
        return True

    def _createConfig(self) -> Config:
        config = super()._createConfig()
        config.tes_endpoint = os.environ["TOIL_TES_ENDPOINT"]
        config.tes_bearer_token = os.environ["TOIL_TES_BEARER_TOKEN"]
        config.tes_user = config.tes_password = None
        return config

    def createBatchSystem(self) -> AbstractBatchSystem:
        system = TESBatchSystem(self.config, maxCores=2, maxMemory=1e9, maxDisk=2001)
        system.setEnv("PATH", os.environ["PATH"])  # where a job finds Toil
        return system
