"""What routes that change something are asked, and in which order: nothing is removed before all
else was asked about it. And what becomes of those that are asked twice.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from api.path_values import PathValues
from benches.route_bodies import QUERIES, body_of
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
    "always_run": False,
    "n_max_attempts": 1,
    "always_copy_output": False,
    "job_id": 1,
    "absolute_parent_ids": [],
    "in_update_parent_ids": [],
    "process": {"type": "docker", "image": "ubuntu:24.04", "command": ["true"]},
}
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
            "batch": {**_HAIL_BATCH, "token": "fast"},
            "bunch": [_HAIL_JOB],
            "job_groups": [],
        },
        "POST /api/v1alpha/batches/{b}/update-fast": {
            "update": {"n_jobs": 1, "n_job_groups": 0, "token": "more"},
            "bunch": [_HAIL_JOB],
            "job_groups": [],
        },
        "POST /ga4gh/tes/1.0/v1/tasks": {"executors": [{"image": "x", "command": ["true"]}]},
        "POST /ga4gh/tes/v1/tasks": {"executors": [{"image": "x", "command": ["true"]}]},
        "POST /v1/imports": {
            "door": "aloe",
            "check": True,
            "jobs": [
                {
                    "id": "1",
                    "user": "nobody",
                    "document": {},
                    "created_at": "2024-05-01T10:00:00Z",
                    "ended_at": "2024-05-01T10:00:00Z",
                }
            ],
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
    }
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


WAITING: Final = {
    "jobs": [
        {"wait": {"for": "approval"}},
        {"wait": {"for": "approval"}},
        {"command": ["true"], "timeout_s": 60},
        {"command": ["true"], "not_before": "2100-01-01T00:00:00Z"},
    ],
}
"""A batch of which some routes need a job."""
_NO_ISSUER: Final = "there is no issuer"
NOT_SENT: Final[Mapping[str, str]] = {
    "POST /v1/device-logins": _NO_ISSUER,
    "POST /v1/device-logins/poll": _NO_ISSUER,
    "POST /v1/logins": _NO_ISSUER,
    "POST /v1/logins/finish": _NO_ISSUER,
    "POST /v1/batches/{b}/jobs/{j}/exec": "it is a stream, which clients do not begin again",
    "POST /v1/worker-link/join": "it needs another invitation",
}
"""Changes of which no sound request is sent twice, and why."""
_GONE: Final = "it is gone (404), which clients take as done after a reply that was lost"
_MADE_ANEW: Final = "a token in place of the first, whose text nobody may have got"
DOES_IT_AGAIN: Final[Mapping[str, str]] = {
    "DELETE /v1/apps/{app}": _GONE,
    "DELETE /v1/billing-projects/{p}": _GONE,
    "DELETE /v1/dead-messages/{dead}": _GONE,
    "DELETE /v1/licences/{l}": _GONE,
    "DELETE /v1/products/{product}": _GONE,
    "DELETE /v1/saved-queries/{saved}": _GONE,
    "DELETE /v1/schedules/{s}": _GONE,
    "DELETE /v1/secrets/{secret}": _GONE,
    "DELETE /v1/sessions/{session}": _GONE,
    "DELETE /v1/setups/{setup}": _GONE,
    "DELETE /v1/stores/{store}": _GONE,
    "DELETE /v1/tokens/{t}": _GONE,
    "POST /v1/batches/{b}/jobs/{j}/answer-links": _MADE_ANEW,
    "POST /v1/login-links": "a code in place of the first, which counts no more",
    "POST /v1/tenants": _MADE_ANEW,
    "POST /v1/tokens": _MADE_ANEW,
    "POST /v1/users": _MADE_ANEW,
    "PUT /v1/secrets/{secret}": "the same value, encrypted anew",
}
"""Changes of which a repeat is told something else, or leaves something else, and what."""
_LINE: Final = '[job.other]\ncommand = ["true"]\n'
_WAITING: Final = "/v1/batches/{waiting}"
_PATHS: Final[Mapping[str, str]] = {
    "POST /v1/batches/{b}/callbacks/{d}/redeliver": "/v1/batches/{done}/callbacks/{d}/redeliver",
    "POST /v1/batches/{b}/groups/{g}/members": "/v1/batches/{b}/groups/{word}-set/members",
    "POST /v1/batches/{b}/jobs/{j}/answer": f"{_WAITING}/jobs/1/answer",
    "POST /v1/batches/{b}/jobs/{j}/answer-links": f"{_WAITING}/jobs/2/answer-links",
    "POST /v1/batches/{b}/jobs/{j}/extend": f"{_WAITING}/jobs/3/extend",
    "POST /v1/batches/{b}/jobs/{j}/status": f"{_WAITING}/jobs/4/status",
    "POST /v1/batches/{b}/updates": f"{_WAITING}/updates",
    "POST /v1/batches/{b}/updates/{u}/commit": f"{_WAITING}/updates/2/commit",
    "POST /v1/batches/{b}/updates/{u}/groups": f"{_WAITING}/updates/2/groups",
    "POST /v1/batches/{b}/updates/{u}/jobs": f"{_WAITING}/updates/2/jobs",
    "POST /v1/operations/{o}/cancel": "/v1/operations/{operation}/cancel",
    "PUT /v1/app-parts/{s}/{n}": f"/v1/app-parts/{'cd' * 32}/1",
    "PUT /v1/setups/{setup}": "/v1/setups/other",
    "PUT /v1/users/{user}/weight": "/v1/users/tester/weight",
    "DELETE /v1/billing-projects/{p}": "/v1/billing-projects/{word}-closed",
}
"""Where the usual ids name nothing that the route takes."""


def request_for(route: str, ids: PathValues) -> tuple[str, bytes, str]:
    """Return path, body and media type of a sound request about things of `full_tenant`, of which
    also `waiting` is the number of a batch as `WAITING` and `operation` of one on many batches.
    """
    word = ids["tenant"].removesuffix("-t")
    special, usual = _PATHS.get(route, ""), route.partition(" ")[2]
    path = special.format(**ids, word=word) if special else ids.fill(usual)
    path += f"?{QUERIES[route]}" if route in QUERIES else ""
    queue = {"name": ids["q"], "priority": 2, "pools": [ids["pools/{p}"]]}
    documents = {
        "POST /v1/batches/{b}/jobs/{j}/status": {"status": f"{word}_two"},
        "POST /v1/imports": {
            "door": "aloe",
            "jobs": [
                {
                    "id": "1",
                    "user": f"{word}-ann",
                    "document": {},
                    "created_at": "2024-05-01T10:00:00Z",
                    "ended_at": "2024-05-01T10:00:00Z",
                }
            ],
        },
        "POST /v1/setups/{setup}/trial": {"document": _LINE},
        "PUT /v1/apps/{app}": {"digest": ids["app-parts/{s}"], "n_bytes": ids["app_bytes"]},
        "POST /v1/queue-reroute": {"to": "default"},
        "PUT /v1/parameters/{parameter}": {"value": "x"},
        "PUT /v1/pools": {"pools": [{"name": ids["pools/{p}"], "tenant": ids["tenant"]}]},
        "PUT /v1/queues": {"queues": [queue]},
    }
    if route == "PUT /v1/setups/{setup}":
        return path, _LINE.encode(), "application/toml"
    if route in documents:
        return path, json.dumps(documents[route]).encode(), "application/json"
    return path, *body_for(route, ids["b"], "x")
