"""What routes that change something are asked, and in which order: nothing is removed before all
else was asked about it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from benches.route_bodies import body_of
from weft.api.app import route_rights
from weft.run.doors import api_doors

LATE: Final = (
    re.compile(r"/(?:commit|cancel|close|drain|fail|hide|hold|lose)$"),
    re.compile(r"/(?:reopen|release|unhide|uncordon|remove)$"),
    re.compile(r"^DELETE |/delete$|^POST /logout$"),
)
"""Routes that end something, undo that, or remove it."""
JOB: Final = {"command": ["true"], "secrets": [{"name": "db", "env": "DB"}]}
_HAIL_JOB: Final = {
    "always_run": False, "n_max_attempts": 1, "always_copy_output": False, "job_id": 1,
    "absolute_parent_ids": [], "in_update_parent_ids": [],
    "process": {"type": "docker", "image": "ubuntu:24.04", "command": ["true"]},
}  # fmt: skip
_HAIL_BATCH: Final = {"billing_project": "default", "n_jobs": 1, "n_job_groups": 0}


def changes() -> Sequence[str]:
    """Return the routes of the api's own table that change something, in this order."""
    others = {
        "POST /v1/worker-link",
        "POST /v1/worker-link/exec",
    }  # for tokens of workers, in a form of their own
    names = [one for one in route_rights(api_doors()) if not one.startswith("GET ")]
    return sorted({*names} - others, key=_place)


def _place(route: str) -> tuple[object, ...]:
    """Return what orders routes: of removals, those of parts of a thing come before its own."""
    is_removal, *is_late = (bool(one.search(route)) for one in LATE[::-1])
    return is_removal, is_late, -route.count("/") if is_removal else 0, route


def body_for(route: str, batch: int, value: str) -> tuple[bytes, str]:
    """Return a sound body and its media type. `value`: that of a secret."""
    documents: Mapping[str, Any] = {
        "POST /api/v1alpha/batches/create": {**_HAIL_BATCH, "n_jobs": 0, "token": "slow"},
        "POST /api/v1alpha/batches/create-fast": {
            "batch": {**_HAIL_BATCH, "token": "fast"}, "bunch": [_HAIL_JOB], "job_groups": [],
        },
        "POST /api/v1alpha/batches/{b}/update-fast": {
            "update": {"n_jobs": 1, "n_job_groups": 0, "token": "more"}, "bunch": [_HAIL_JOB],
            "job_groups": [],
        },
        "POST /ga4gh/tes/1.0/v1/tasks": {"executors": [{"image": "x", "command": ["true"]}]},
        "POST /ga4gh/tes/v1/tasks": {"executors": [{"image": "x", "command": ["true"]}]},
        "POST /v1/imports": {
            "door": "aloe", "check": True, "jobs": [{"id": "1", "user": "nobody", "document": {},
                                                     "created_at": "2024-05-01T10:00:00Z",
                                                     "ended_at": "2024-05-01T10:00:00Z"}],
        },
        "POST /v1/batch-actions": {"action": "hold", "batches": [batch]},
        "POST /v1/batches": {"jobs": [JOB]},
        "POST /v1/batches/{b}/updates": {"n_jobs": 1, "n_groups": 1},
        "POST /v1/batches/{b}/updates/{u}/jobs": {"first": 1, "jobs": [JOB]},
        "POST /v1/queue-reroute": {"to": "default", "dry_run": True},
        "POST /v1/queue-test": {"jobs": [JOB]},
        "POST /v1/schedules": {"cron": "0 3 1 1 *", "document": {"jobs": [JOB]}},
        "POST /v1/users": {"name": "eve"},
        "PUT /v1/parameters/{parameter}": {"value": 30},
        "PUT /v1/pools": {"dry_run": True, "pools": []},
        "PUT /v1/queues": {"dry_run": True, "queues": []},
        "PUT /v1/secrets/{secret}": {"value": value},
    }  # fmt: skip
    forms: Mapping[str, Mapping[str, object]] = {
        "POST /ui/batch-actions": {"b": batch, "action": "release"},
        "POST /ui/batch-actions/count": {"b": batch, "action": "cancel"},
        "POST /ui/queues/test": {"document": json.dumps({"jobs": [JOB]})},
        "POST /ui/saved-queries": {"name": "another", "q": "name = x"},
        "POST /ui/saved-queries/remove": {"name": "another", "q": ""},
    }
    if route in documents:
        return json.dumps(documents[route]).encode(), "application/json"
    if route in forms:
        return urlencode(forms[route]).encode(), "application/x-www-form-urlencoded"
    return body_of(route)
