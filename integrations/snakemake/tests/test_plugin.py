"""Snakemake's own tests of executors, on the weft of `WEFT_HOME`."""

from snakemake.common.tests import TestWorkflowsLocalStorageBase
from snakemake_executor_plugin_weft import ExecutorSettings


class TestWeft(TestWorkflowsLocalStorageBase):
    __test__ = True

    def get_executor(self) -> str:
        return "weft"

    def get_executor_settings(self) -> ExecutorSettings:
        return ExecutorSettings()
