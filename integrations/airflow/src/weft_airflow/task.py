"""`python -m weft_airflow.task FILE`: run a task of Airflow, on its worker.

Airflow's own program for this ends well also if the task fails; here the job fails, too.
"""

import sys
from pathlib import Path
from typing import Final

from airflow.executors.base_executor import BaseExecutor
from airflow.executors.workloads import ExecuteTask
from airflow.sdk.execution_time.supervisor import ActivitySubprocess
from airflow.sdk.log import configure_logging

FAILED: Final = ("failed", "up_for_retry")


def main(file: Path) -> int:
    """Run the task that a file describes; return its exit code, 1 if it told Airflow itself that
    it failed: its process ends well then.
    """
    workload = ExecuteTask.model_validate_json(file.read_bytes())
    file.unlink()
    configure_logging(output=sys.stdout.buffer)
    ended = list[ActivitySubprocess]()
    wait = ActivitySubprocess.wait

    def waited(process: ActivitySubprocess) -> int:
        ended.append(process)
        return wait(process)

    ActivitySubprocess.wait = waited  # type: ignore[method-assign]  # nothing else tells the state
    code = BaseExecutor.run_workload(workload, subprocess_logs_to_stdout=True)
    has_failed = any(one.final_state in FAILED for one in ended)
    return code or int(has_failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
