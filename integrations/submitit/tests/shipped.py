"""submitit's own tests of its local executor, with that of weft in its place."""

from submitit.local import local
from weft_submitit.executor import WeftExecutor, WeftJob

local.LocalExecutor, local.LocalJob = WeftExecutor, WeftJob

from submitit.conftest import weird_tmp_path  # noqa: E402, F401
from submitit.local.test_local import *  # noqa: E402, F403
