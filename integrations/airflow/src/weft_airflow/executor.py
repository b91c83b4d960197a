"""The executor. A scheduler has one bridge, and with it one batch. No job is asked how it is."""

import os
import re
import socket
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from airflow.configuration import AIRFLOW_HOME
from airflow.executors.base_executor import BaseExecutor
from airflow.executors.workloads import ExecuteTask
from airflow.models.taskinstance import TaskInstance
from airflow.models.taskinstancekey import TaskInstanceKey

from weft import WeftError
from weft.bridge import Bridge, Submitted

Document = dict[str, Any]
GOES_ALONG: Final = re.compile(
    "AIRFLOW_HOME|AIRFLOW__(CORE__EXECUTION_API_SERVER_URL|CORE__DAGS_FOLDER|LOGGING__.*|"
    "DAG_PROCESSOR__.*|API__BASE_URL)|HOME|LANG|PATH|PYTHONPATH|TZ|USER"
)
"""Variables of the scheduler that its jobs have. Its others may hold secrets."""
REF: Final = re.compile(r"b\d+\.j\d+")
PRIORITY_MAX: Final = 1000


class WeftExecutor(BaseExecutor):
    """What `[core] executor` names."""

    is_local = True
    """Else `airflow standalone` takes its own executor instead."""

    def start(self) -> None:
        """Begin, or go on with the batch of the scheduler that was here before."""
        place = re.sub(r"[^A-Za-z0-9]+", "-", f"{socket.gethostname()} {AIRFLOW_HOME}")
        self._bridge = Bridge(f"airflow-{place}"[:180], inherit_env=False)
        self._ends: SimpleQueue[tuple[TaskInstanceKey, Submitted]] = SimpleQueue()
        self._sent: dict[TaskInstanceKey, Submitted] = {}
        self._files: dict[TaskInstanceKey, Path] = {}
        self._folder = Path(AIRFLOW_HOME) / "weft"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _process_workloads(self, workload_items: Sequence[ExecuteTask]) -> None:
        for workload in workload_items:
            del self.queued_tasks[workload.key]
            self._follow(workload.key, self._bridge.submit(self._job(workload)))

    def _job(self, workload: ExecuteTask) -> Document:
        """Return the job of a task. What it may do at Airflow stands in a file of its own."""
        key, ti = workload.key, workload.ti
        file = self._files[key] = self._folder / f"{ti.id}-{key.try_number}.json"
        file.touch(0o600)
        file.write_text(workload.model_dump_json())
        said = (ti.executor_config or {}).get("weft", {})
        name = f"{key.dag_id}.{key.task_id}" + (f"[{key.map_index}]" if key.map_index >= 0 else "")
        return {
            "name": name,
            "command": [sys.executable, "-m", "weft_airflow.task", str(file)],
            "env": {k: v for k, v in os.environ.items() if GOES_ALONG.fullmatch(k)},
            "priority": max(-PRIORITY_MAX, min(PRIORITY_MAX, ti.priority_weight)),
            **said,
            "max_attempts": 1,  # Airflow takes each try once; retries are its own
            "retry_on": ["lost"],
        }

    def _follow(self, key: TaskInstanceKey, submitted: Submitted) -> None:
        self.running.add(key)
        self._sent[key] = submitted
        for moment in (submitted.ref, submitted.end):
            moment.add_done_callback(partial(self._note, key, submitted))

    def _note(self, key: TaskInstanceKey, submitted: Submitted, _: object) -> None:
        self._ends.put((key, submitted))

    def sync(self) -> None:
        """Tell the scheduler what has happened."""
        while not self._ends.empty():
            key, submitted = self._ends.get()
            if self._sent.get(key) is not submitted:
                continue
            if submitted.end.done():
                del self._sent[key]
                self._tell(key, submitted)
            elif not submitted.ref.exception():
                self.change_state(key, "queued", submitted.ref.result(), remove_running=False)

    def _tell(self, key: TaskInstanceKey, submitted: Submitted) -> None:
        if file := self._files.pop(key, None):
            file.unlink(missing_ok=True)
        error = submitted.end.exception()
        if error is None and submitted.end.result().state == "success":
            self.success(key)
            return
        words = f"weft: {error}"
        if not error:
            ref, end = submitted.ref.result(), submitted.end.result()
            words = f"weft job {ref} {end.state}, exit code {end.exit_code}; more: weft logs {ref}"
        self.log.error("%s: %s", key, words)
        self.log_task_event(event="failed on weft", extra=words, ti_key=key)
        self.fail(key, words)

    def get_task_log(self, ti: TaskInstance, try_number: int) -> tuple[list[str], list[str]]:  # noqa: ARG002 (Airflow's)
        """Return what the job has written, for a task whose own log is not there yet."""
        ref = ti.external_executor_id or ""
        if not REF.fullmatch(ref):
            return [], []
        try:
            with Bridge(inherit_env=False) as bridge:
                return [f"weft logs {ref}"], [bridge.log(ref).decode(errors="replace")]
        except WeftError as error:
            return [f"weft: {error}"], []

    def try_adopt_task_instances(self, tis: Sequence[TaskInstance]) -> Sequence[TaskInstance]:
        """Follow the jobs of a scheduler that was killed; return tasks that have none."""
        for ti in (adopted := [ti for ti in tis if REF.fullmatch(ti.external_executor_id or "")]):
            self._follow(ti.key, self._bridge.attach(ti.external_executor_id))
        return [ti for ti in tis if ti not in adopted]

    def revoke_task(self, *, ti: TaskInstance) -> None:
        """Cancel the job of a task, and forget it."""
        self.running.discard(ti.key)
        self.queued_tasks.pop(ti.key, None)
        submitted = self._sent.pop(ti.key, None)
        if submitted and submitted.ref.done() and not submitted.ref.exception():
            self._bridge.cancel([submitted.ref.result()])

    def end(self) -> None:
        """Wait for nothing: jobs go on, and the next scheduler adopts them."""
        self._bridge.close()

    def terminate(self) -> None:
        """Cancel all."""
        self._bridge.cancel_all()
