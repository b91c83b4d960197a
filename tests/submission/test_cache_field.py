"""The field `cache`: what makes two jobs the same, and what is refused."""

from typing import Any

import msgspec

from cases import cases
from submission.test_described_fields import wrong
from submission.test_translate import rows_of
from weft.submission.translation.cache import LEFT_OUT, key_of
from weft.wire.documents.apps import CodeDocument, RequirementsDocument
from weft.wire.documents.containers import ContainerDocument, EngineOptions
from weft.wire.documents.files import FileInput, FileOutput
from weft.wire.documents.secrets import SecretUse
from weft.wire.documents.simulations import SimulationDocument
from weft.wire.spec import AppSpec, FunctionSpec, JobSpec

SUM, OTHER_SUM = ("sha256:" + digit * 64 for digit in "01")
FIELDS: dict[str, Any] = {
    "command": ("a",), "script": "a", "env": {"A": "1"}, "cwd": "/a", "stdin": "a",
    "umask": "0077", "secrets": (SecretUse("a", env="A"),), "network": False,
    "simulation": SimulationDocument(()), "container": ContainerDocument("docker://a"),
    "engine": EngineOptions(partition="a"), "inputs": (FileInput("https://a/b", checksum=SUM),),
    "outputs": (FileOutput("a"),), "inherit_env": {"A": "1"}, "executor": "other",
    "function": FunctionSpec("math:gcd"), "identity": {"A": "1"}, "own_paths": ("/a",),
    "app": AppSpec("a-1", "0", "run"), "code": CodeDocument("0" * 64), "requires": ("a",),
    "requirements": RequirementsDocument("0" * 64),
}  # fmt: skip
"""Each field of a spec that belongs to the key, with a value."""


def key(**fields: Any) -> str:  # noqa: ANN401 (of several types)
    return str(key_of(JobSpec(**fields))["key"])


def keys_of(*jobs: dict[str, Any], **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (as rows_of)
    rows = rows_of([{**job, "cache": "inputs"} for job in jobs], **more)
    return [one for fields in rows.rare_fields for one in fields.get("cache_keys", [fields])]


def test_each_field_of_a_spec_is_in_the_key_or_left_out() -> None:
    """A new one has to be put into one of both sets."""
    assert FIELDS.keys() | LEFT_OUT == {*JobSpec.__struct_fields__}
    assert len({key(), *(key(**{name: one}) for name, one in FIELDS.items())}) == len(FIELDS) + 1
    numbers: dict[str, Any] = {"timeout_s": 1.0, "trace_id": "a", "shares": 1, "original": b"a"}
    assert {key(**{name: one}) for name, one in numbers.items()} == {key()}


def test_inputs_count_by_what_they_hold() -> None:
    """Not by where they come from; a job's output has its digest when the job is ready."""
    here, there = (FileInput(f"https://{at}/x", checksum=SUM) for at in "ab")
    changed, elsewhere = (
        msgspec.structs.replace(here, **change)
        for change in ({"checksum": OTHER_SUM}, {"to": "y"})
    )
    same, *others = [key(inputs=(one,)) for one in (here, changed, elsewhere)]
    assert key(inputs=(there,)) == same
    assert len({same, *others}) == 3
    (of_parent,) = keys_of({"command": ["a"], "inputs": [{"from": "weft://make/x"}]})
    (of_batch,) = keys_of({"command": ["a"], "inputs": [{"from": "weft://b3.j7/x"}]})
    assert of_parent["key"] == of_batch["key"]
    assert of_parent["wants"] == [{"batch": None, "job": 0, "parent": "make", "path": "x"}]
    assert of_batch["wants"] == [{"batch": 3, "job": 7, "parent": None, "path": "x"}]


def test_each_job_of_an_array_has_its_own_key() -> None:
    one, two = {"command": ["a"], "count": 2}, {"command": ["a"], "values": ["x", "y"]}
    found = [row["key"] for row in keys_of(one, two)]
    assert len({*found}) == 4
    again = keys_of({**one, "index_from": 1}, {**two, "values": ["y"]})
    assert again[0]["key"] == found[1]
    assert again[2]["key"] not in found  # y has another index
    assert keys_of(one, inherit_env={"A": "1"})[0]["key"] not in found


def test_a_function_counts_whoever_carries_it() -> None:
    first, other = (
        {"function": {"pickle": code, "arguments": "AAAA"}} for code in ("AAAA", "BBBB")
    )
    second = {"function": {"of": 1, "arguments": "BBBB"}}
    assert len({row["key"] for row in keys_of(first, second)}) == 2
    assert keys_of(first, second)[1] == keys_of(first, second)[1]
    assert keys_of(first, second)[1] != keys_of(other, second)[1]
    (late,) = keys_of(second, first=2)
    assert late["not_cached"] == "its function came with an earlier request"


@cases("source", ["x", "https://a/x", "store://genomes/x", "file:///x"])
def test_what_may_change_runs_and_says_why(source: str) -> None:
    (kept,) = keys_of({"command": ["a"], "inputs": [{"from": source}]})
    assert kept["not_cached"] == f"its input {source} has no `checksum`"


@cases(
    ("job", "what"),
    [
        ({"wait": {"for": "event"}}, "runs nothing"),
        ({"name": "a", "command": ["a"], "service": {}}, "never ends"),
        ({"command": ["a"], "count": 10_001}, "at most 10000"),
    ],
)
def test_where_it_makes_no_sense_it_is_refused(job: dict[str, Any], what: str) -> None:
    assert what in wrong({**job, "cache": "inputs"})["/jobs/0/cache"]
    assert rows_of([{**job, "cache": "off"}]).rare_fields[0]["cache"] == "off"
