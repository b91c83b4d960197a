"""What is said of a value of the wrong type, in words of JSON and YAML."""

import msgspec
import pytest

from cases import cases
from weft.wire.documents.batches import BatchDocument, JobDocument
from weft.wire.documents.queues import QueueDocument
from weft.wire.mistakes import mistake_of, said
from weft.wire.synonyms import _SYNONYMS, nearest_field

WRONG: tuple[object, ...] = (
    "text",
    7,
    1.5,
    True,
    None,
    ["text"],
    [7],
    [[7.5, {}]],
    {"key": 7},
    {"key": {}},
    -1,
)


def said_of(value: object, kind: type) -> str | None:
    try:
        msgspec.json.decode(msgspec.json.encode(value), type=kind)
    except msgspec.ValidationError as error:
        return said(str(error))
    return None


@pytest.mark.parametrize("kind", [BatchDocument, JobDocument, QueueDocument])
def test_no_field_speaks_of_types_of_a_program(kind: type[msgspec.Struct]) -> None:
    """`str`, `array | null` and `int64` are words of a library."""
    told = [
        message
        for field in kind.__struct_encode_fields__
        for value in WRONG
        if (message := said_of({"name": "n", field: value}, kind)) is not None
    ]

    assert len(told) > 40
    assert [one for one in told if "`" in one or "|" in one] == []


@cases(
    ("job", "told"),
    [
        ({"command": "sort"}, ("/command", "expected a list, got text")),
        ({"env": ["A=1"]}, ("/env", "expected a mapping, got a list")),
        ({"env": {"A": 1}}, ("/env", "expected text, got a number")),
        ({"priority": 1.5}, ("/priority", "expected a whole number, got a decimal number")),
        ({"concurrency_key": {"n": 1}}, ("/concurrency_key", "it lacks the field 'key'")),
        ({"always_run": "yes"}, ("/always_run", "expected true or false, got text")),
        ({"parents": [{}]}, ("/parents/0", "it lacks the field 'of'")),
        ({"count": 0}, ("/count", "expected at least 1")),
    ],
)
def test_mistake_is_told_in_words(job: dict[str, object], told: tuple[str, str]) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.json.decode(msgspec.json.encode(job), type=JobDocument)

    assert mistake_of(str(refused.value)) == told


JOB = JobDocument.__struct_fields__
KNOWN = {
    *JOB,
    *BatchDocument.__struct_fields__,
    *(f"resources.{n}" for n in ("cpu", "memory", "storage", "gpu")),
}


@cases(
    ("word", "meant"),
    [
        ("retries", "max_attempts"),
        ("cpus", "resources.cpu"),
        ("mem", "resources.memory"),
        ("depends-on", "parents"),
        ("timeout", "timeout_s"),
        ("comand", "command"),
        ("zzz", None),
    ],
)
def test_field_is_found_by_the_names_of_others(word: str, meant: str | None) -> None:
    assert nearest_field(word, JOB) == meant


def test_field_within_resources_is_found_there() -> None:
    assert nearest_field("cpus", {"cpu", "memory"}) == "cpu"


def test_every_synonym_means_a_field() -> None:
    assert set(_SYNONYMS.values()) <= KNOWN
