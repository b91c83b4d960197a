"""Which jobs of a batch a request is about."""

from typing import Final

from weft.api.calls.path_ids import parse_group
from weft.api.http.paging import limit_of
from weft.api.http.parameters import Query, wrong_parameter
from weft.api.use_cases.read import JobList
from weft.core.states import JobState
from weft.settings import Settings

_STATES: Final = {state.word: state for state in JobState}


def job_list_of(query: Query, settings: Settings) -> JobList:
    """Return which jobs `q`, `group`, `state` and `limit` name, from the first one on."""
    group = query.text("group")
    return JobList(
        limit=limit_of(query, settings),
        query=query.text("q"),
        group=None if group is None else parse_group(group, settings),
        states=[_state(word) for word in query.many("state")],
    )


def _state(word: str) -> JobState:
    if word not in _STATES:
        raise wrong_parameter("state", f"{word[:40]!r} is not one of {', '.join(_STATES)}")
    return _STATES[word]
