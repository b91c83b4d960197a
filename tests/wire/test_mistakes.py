"""What is said of a value of the wrong type, in words of JSON and YAML."""

from collections.abc import Collection

import msgspec
import pytest

from cases import cases
from weft.core.problems import CHECKED_MAX, PROBLEMS_MAX, Problems
from weft.wire import mistakes
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.jobs import JobDocument
from weft.wire.documents.queues import QueueDocument
from weft.wire.mistakes import check_types, mistake_of, said
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


def test_few_mistakes_are_explained_and_fewer_names_are_guessed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever is wrong in a document, and however often: to say it takes a bounded time."""
    looked, converted, original = list[str](), list[object](), msgspec.convert

    def nearest(name: str, known: Collection[str]) -> str | None:
        looked.append(name)
        return nearest_field(name, known)

    def convert(value: object, kind: object) -> object:
        converted.append(value)
        return original(value, kind)

    monkeypatch.setattr(mistakes, "nearest_field", nearest)
    monkeypatch.setattr(msgspec, "convert", convert)
    many = 100_000
    for wrong in (
        {f"nam{n}": 1 for n in range(many)},
        {"jobs": [{"comand": ["a"]}] * many},
        {"jobs": [{"command": [1] * many}]},
        {"jobs": [7] * many},
        {"attributes": {f"{n}": n for n in range(many)}},
        {"attributes": {f"{n}": "fine" for n in range(many)}, "nam": 1},
        {"jobs": [{"command": ["fine"]}] * many, "nam": 1},
    ):
        looked.clear()
        converted.clear()
        problems = Problems()
        check_types(wrong, BatchDocument, "", problems)
        assert len(problems.found) <= PROBLEMS_MAX
        assert len(looked) <= 20
        assert len(converted) <= CHECKED_MAX
    check_types({"n" * 10**6: 1}, BatchDocument, "", problems := Problems())
    assert len(problems.found[0][1].pointer) == 1000
