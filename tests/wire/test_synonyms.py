from cases import cases
from weft.wire.documents.batches import BatchDocument, JobDocument
from weft.wire.synonyms import _SYNONYMS, nearest_field

JOB = JobDocument.__struct_fields__
KNOWN = {
    *JOB,
    *BatchDocument.__struct_fields__,
    *(f"resources.{n}" for n in ("cpu", "memory", "storage", "gpu")),
}


@cases(
    ("word", "meant"),
    [
        ("retries", "max_attempts"), ("cpus", "resources.cpu"), ("mem", "resources.memory"),
        ("depends-on", "parents"), ("timeout", "timeout_s"), ("comand", "command"),
        ("zzz", None),
    ],
)  # fmt: skip
def test_field_is_found_by_the_names_of_others(word: str, meant: str | None) -> None:
    assert nearest_field(word, JOB) == meant


def test_field_within_resources_is_found_there() -> None:
    assert nearest_field("cpus", {"cpu", "memory"}) == "cpu"


def test_every_synonym_means_a_field() -> None:
    assert set(_SYNONYMS.values()) <= KNOWN
