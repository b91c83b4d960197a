"""The field `network` of jobs, from the document to the spec that workers read."""

from typing import Any

import pytest

from submission.test_translate import rows_of
from weft.core.errors import InvalidDocument
from weft.submission.translation.functions import shown_spec
from weft.wire.spec import NO_NETWORK, SECRETS, JobSpec, decode_chunk

COMMAND: dict[str, Any] = {"command": ["true"]}


def test_such_a_job_requires_a_runner_that_knows_of_it() -> None:
    secret: dict[str, Any] = {"secrets": [{"name": "db", "env": "DB"}]}
    forbid: dict[str, Any] = {"network": False}
    documents = [
        {**COMMAND, **forbid}, COMMAND, {**COMMAND, "network": True},
        {**COMMAND, **forbid, **secret}, {**COMMAND, **forbid, "values": ["a", "b"]},
    ]  # fmt: skip
    specs = [spec for body in rows_of(documents).chunk_body for spec in decode_chunk(body)]
    own = {NO_NETWORK}

    assert [set(one.requires) for one in specs] == [own, set(), set(), {SECRETS} | own, own, own]
    assert {one.executor for one in specs} == {"process"}
    assert [one.network for one in specs] == [False, None, True, *[False] * 3]


def test_spec_is_shown_without_what_it_requires() -> None:
    spec = JobSpec(("true",), network=False, requires=(NO_NETWORK, SECRETS))
    shown = shown_spec(spec, 1, ())

    assert isinstance(shown, JobSpec)
    assert (shown.requires, shown.network) == ((), False)


def test_call_of_a_function_cannot_forbid_the_network() -> None:
    with pytest.raises(InvalidDocument) as refused:
        rows_of([COMMAND, {"function": {"call": "math:gcd"}, "network": False}])

    (error,) = refused.value.errors
    assert error.pointer == "/jobs/1/network"
    assert "share processes" in error.message
