"""The forms and limits of parameters, for those who read them and for the description."""

import re
from collections.abc import Mapping
from typing import Any, Final

from weft.api.calls.path_ids import ATTEMPTS_MAX, PathId
from weft.api.http.paging import CURSOR_CHARS_MAX, LIMIT_MAX
from weft.api.http.parameters import PATH_IDS
from weft.api.http.requests import KEY
from weft.api.http.sse import LOG_POSITION
from weft.core.batch_order import BatchSort
from weft.core.ids import BATCH
from weft.core.query.reach import JOB_ID_MAX
from weft.core.states import JobState, Reason

Schema = Mapping[str, Any]  # a part of an OpenAPI document
LAST_JOB: Final = 999_999_999
OUTPUTS_MAX: Final = 1000
FIND_CHARS_MAX: Final = 1000
STREAMS: Final = ("both", "stdout", "stderr")
EVENT_POSITION: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")


def _whole(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def _integer(least: int, most: int, default: int | None = None) -> dict[str, Any]:
    limits: dict[str, Any] = {"type": "integer", "minimum": least, "maximum": most}
    return limits if default is None else {**limits, "default": default}


_TEXT: Final[Schema] = _whole(r"[^\x00]*")
_JOBS: Final = "[1-9][0-9]{0,8}(?:-[1-9][0-9]{0,8})?"
QUERY: Final[Mapping[str, tuple[str, Schema]]] = {
    "limit": ("Rows of a page.", _integer(1, LIMIT_MAX)),
    "cursor": (
        "The `cursor` of the previous page of the same list.",
        {"type": "string", "maxLength": CURSOR_CHARS_MAX},
    ),
    "name": ("Exactly this name.", _TEXT),
    "code": ("The code of a login link.", _TEXT),
    "issuer.code": ("The code of the issuer.", _TEXT),
    "issuer.state": ("What the login has sent along.", _TEXT),
    "issuer.iss": ("The issuer (RFC 9207).", _TEXT),
    "issuer.error": ("Why the issuer refuses.", _TEXT),
    "issuer.error_description": ("The same in more words.", _TEXT),
    "tenant": ("The tenant to log in to.", _TEXT),
    "issuer": ("The issuer at which to log in.", _TEXT),
    "q": ("A query, such as `state = failed and cost > 5`.", _TEXT),
    "why": ("Say why each job waits.", {"type": "boolean", "default": False}),
    "hidden": ("Also hidden batches.", {"type": "boolean", "default": False}),
    "sort": (
        "Names begin with A, all else with the newest; `name`: only those that have one; "  # noqa: ISC004
        "`completed`: only those that are complete and have jobs.",
        {"enum": list(BatchSort), "default": BatchSort.NUMBER},
    ),
    "reverse": ("The other way round.", {"type": "boolean", "default": False}),
    "explain": ("Show how the query would run instead.", {"type": "boolean", "default": False}),
    "state": (
        "A state; may be repeated.",
        {"type": "array", "items": {"type": "string", "enum": [state.word for state in JobState]}},
    ),
    "find": ("A text of one line.", {**_whole(r"[^\n\x00]+"), "maxLength": FIND_CHARS_MAX}),
    "group": ("A group: its number, its path or the name of a set.", {**_TEXT, "minLength": 1}),
    "level": (
        "Nodes are groups or jobs; `auto`: groups if there are some.",
        {"enum": ["auto", "groups", "jobs"]},
    ),
    "apart": (
        "Jobs with the same parents and the same children are nodes of their own, too.",
        {"type": "boolean", "default": False},
    ),
    "after": ("Only jobs with a larger number.", _integer(0, JOB_ID_MAX, 0)),
    "cause": ("A cause of failures.", _whole("[0-9a-f]{12}")),
    "reason": ("A reason.", {"type": "string", "enum": [reason.word for reason in Reason]}),
    "acknowledged": (
        "Those that are acknowledged, instead of the others.",
        {"type": "boolean", "default": False},
    ),
    "batch": ("Only of this batch: 12 or b12.", _whole(BATCH.pattern)),
    "since": ("The id of an event after which the stream begins.", _whole(EVENT_POSITION.pattern)),
    "series": ("Only items of this series.", _TEXT),
    "key": ("Only the item of this key.", _TEXT),
    "as_of": ("As it was at this time, in RFC 3339.", {"type": "string", "format": "date-time"}),
    "from": (
        "Only what happened at this time or later, in RFC 3339.",
        {"type": "string", "format": "date-time"},
    ),
    "user": ("Only what this user did.", _TEXT),
    "for_user": ("The one that is for this user alone.", _TEXT),
    "action": (
        "In the trail: only this action, an `operationId` or `run_schedule`. Of many batches: "  # noqa: ISC004
        "`hold`, `release`, `retry` or `cancel`.",
        _TEXT,
    ),
    "number": ("Only the entry with this number.", _integer(1, 10**18 - 1)),
    "all_tenants": (
        "Those of all tenants, for administrators of the site.",
        {"type": "boolean", "default": False},
    ),
    "before": ("Only dates before this one.", {"type": "string", "format": "date"}),
    "by": (
        "What the report is divided by.",
        _whole(r"project|user|day|resource|attribute=[^\x00]+"),
    ),
    "project": ("Only this billing project.", _TEXT),
    "first_day": ("Only usage of this date (UTC) or later.", {"type": "string", "format": "date"}),
    "last_day": ("Only usage of this date (UTC) or before.", {"type": "string", "format": "date"}),
    "format": ("The form of the answer, whatever `Accept` says.", {"enum": ["json", "csv"]}),
    "stream": ("One stream, or both as they were written.", {"enum": list(STREAMS)}),
    "path": ("The path of a file, as the list of files shows it.", _TEXT),
    "title": ("The title of a note, as the list of notes shows it.", _TEXT),
    "attempt": ("An attempt; without it the last one.", _integer(1, ATTEMPTS_MAX)),
    "follow": ("Stream the output while the job runs.", {"type": "boolean", "default": False}),
    "first": ("The first job.", _integer(1, LAST_JOB, 1)),
    "bytes": ("The length of the whole payload.", _integer(1, 1 << 40)),
    "last": (f"The last job; at most {OUTPUTS_MAX} jobs.", _integer(1, LAST_JOB)),
    "all": ("Also what has ended.", {"type": "boolean", "default": False}),
    "pool": ("The pool, if several have a worker of this name.", _TEXT),
    "cancel_batches": (
        "Cancel what they have submitted, or not; without it, what the tenant says.",
        {"type": "boolean"},
    ),
    "jobs": (
        f"Numbers of jobs, at most {OUTPUTS_MAX}, as in `1-20,25`.",
        _whole(f"{_JOBS}(?:,{_JOBS})*"),
    ),
}
VISIT: Final = "X-Weft-Visit"
HEADERS: Final[Mapping[str, tuple[str, Schema]]] = {
    "Idempotency-Key": (
        "A random name, known for a day or more: a repeat with the same key does nothing and "  # noqa: ISC004
        "gets the same reply; of a token or a link it makes a new one in place of the first.",
        _whole(KEY.pattern),
    ),
    "Last-Event-ID": (
        "The id of the event after which a stream resumes.",
        _whole(f"{EVENT_POSITION.pattern}|{LOG_POSITION.pattern}"),
    ),
    VISIT: (
        "The tenant into which an administrator of the site looks, percent-encoded; nothing is "  # noqa: ISC004
        "changed there. Empty: none.",
        _TEXT,
    ),
    "Range": ("Bytes of a single stream, as in `bytes=0-99`; others are ignored.", _TEXT),
}


def parameter(name: str, where: str, ids: Mapping[str, PathId]) -> dict[str, Any]:
    """Return the description of a parameter of the path, the query or the head. Of a name with a
    dot the last part is the parameter's. `ids`: of the path, as its call declares them.
    """
    if where == "path":
        one = {**PATH_IDS, **{one.name: one for one in ids.values()}}[name]
        form: Schema = _whole(one.pattern) if one.pattern else {"type": "string", "minLength": 1}
        said = {"name": name, "in": where, "description": one.sentence, "schema": form}
        return {**said, "required": True}
    text, schema = {"query": QUERY, "header": HEADERS}[where][name]
    return {"name": name.rpartition(".")[2], "in": where, "description": text, "schema": schema}
