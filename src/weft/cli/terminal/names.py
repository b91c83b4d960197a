"""Names of jobs and groups as tables and messages show them."""

from collections.abc import Mapping
from typing import Any

from weft.cli.terminal.plain import one_line
from weft.core.ids import format_batch_id

Document = Mapping[str, Any]


def group_name(group: Document) -> str:
    """Return a group as commands name it: `b12/stage1`."""
    return f"{format_batch_id(group['batch_id'])}/{(group['path'] or group['name']).lstrip('/')}"


def job_name(job: Document, *, width: int) -> str:
    """Return the name of a job; in an array with its index: `resize[17]`."""
    index = job.get("index")
    return one_line(job.get("name") or "", width=width) + ("" if index is None else f"[{index}]")
