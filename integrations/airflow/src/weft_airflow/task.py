"""`python -m weft_airflow.task FILE`: run a task of Airflow, on its worker.

Airflow's own program for this ends well also if the task fails; here the job fails, too.
"""

import sys
from pathlib import Path

from airflow.executors.base_executor import BaseExecutor
from airflow.executors.workloads import ExecuteTask
from airflow.sdk.log import configure_logging


def main(file: Path) -> int:
    """Run the task that a file describes; return its exit code."""
    workload = ExecuteTask.model_validate_json(file.read_bytes())
    file.unlink()
    configure_logging(output=sys.stdout.buffer)
    return BaseExecutor.run_workload(workload, subprocess_logs_to_stdout=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
