from pathlib import Path

import pytest

from cases import cases
from weft.core.errors import Invalid
from weft_siege.bucket import Bucket, expected, said, wrong_objects
from weft_siege.evidence import Evidence
from weft_siege.load import Batch


@cases(("url", "endpoint"), [("gs://a", None), ("s3:///a", None), ("s3://a", "localhost:9000")])
def test_what_is_no_bucket_is_refused(url: str, endpoint: str | None) -> None:
    with pytest.raises(Invalid):
        Bucket(url, endpoint)


def test_what_the_last_run_wrote_must_be_there(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path / "evidence")
    evidence.path.write_text("b7.j1 2 8 stored:new\nb7.j1 1 7 stored:old\nb7.j2 1 9 stored:b\n")
    batches = [Batch(kind, 7, [], evidence) for kind in ("mixed", "stored")]
    written = expected(batches)

    assert written == {"evidence/j1": "new", "evidence/j2": "b"} == {**expected(batches[1:])}
    assert list(wrong_objects(written, written)) == []
    assert list(wrong_objects(written, {"evidence/j1": "old", "a": "b"})) == [
        "evidence/j1 has other bytes than the last run wrote",
        "evidence/j2 is not there",
        "a belongs to no job",
    ]


def test_what_the_last_run_printed_must_be_shipped(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path / "evidence")
    evidence.path.write_text("b7.j1 2 8 said:ab\nb7.j1 1 7 said:cd\nb7.j2 1 9 begin\n")
    batches = [Batch(kind, 7, [], evidence) for kind in ("mixed", "stored")]

    assert list(said(batches)) == [b"b7.j1 2 ab\n"]
