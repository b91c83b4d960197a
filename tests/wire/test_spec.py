"""Specs as they are stored: in chunks, and of an array one template."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.wire.spec import (
    CHUNK_BYTES_MAX,
    CHUNK_VALUES_MAX,
    ArrayRange,
    JobSpec,
    compress_chunk,
    cut_values,
    decode_chunk,
    encode_array,
    encode_chunk,
    spec_at,
)


@cases(
    ("word", "found"),
    [
        ("$WEFT_INDEX", "7"),
        ("${WEFT_INDEX}", "7"),
        ("part-$WEFT_INDEX.txt", "part-7.txt"),
        ("$WEFT_INDEX$WEFT_INDEX", "77"),
        ("${WEFT_INDEX}0", "70"),
        ("$WEFT_INDEXES", "$WEFT_INDEXES"),
        ("$WEFT_INDEX0", "$WEFT_INDEX0"),
        ("${WEFT_INDEX", "${WEFT_INDEX"),
        ("$HOME ${HOME} WEFT_INDEX", "$HOME ${HOME} WEFT_INDEX"),
        ("\\$WEFT_INDEX", "\\7"),
    ],
)
def test_index_is_put_where_a_shell_would(word: str, found: str) -> None:
    template = JobSpec(command=("run", word), env={"WORD": word})

    spec = spec_at(template, 7)

    assert spec.command == ("run", found)
    assert spec.env == {"WORD": found, "WEFT_INDEX": "7"}


def test_script_and_the_rest_stay_as_they_are() -> None:
    template = JobSpec(script="echo $WEFT_INDEX", cwd="/$WEFT_INDEX", stdin="$WEFT_INDEX")

    spec = spec_at(template, 0)

    assert (spec.script, spec.cwd, spec.stdin) == (
        "echo $WEFT_INDEX",
        "/$WEFT_INDEX",
        "$WEFT_INDEX",
    )
    assert spec.command is None
    assert spec.env == {"WEFT_INDEX": "0"}


@given(st.integers(0, 2_000_000_000), st.integers(1, 1000), st.data())
def test_chunk_of_an_array_has_a_spec_for_each_job(
    first: int, n_jobs: int, data: st.DataObject
) -> None:
    body = encode_array(
        JobSpec(command=("a", "$WEFT_INDEX")), ArrayRange(first, n_jobs), {"E": "1"}
    )

    specs = decode_chunk(body)

    place = data.draw(st.integers(0, n_jobs - 1))
    assert len(specs) == n_jobs
    assert specs[place].command == ("a", str(first + place))
    assert specs[place].inherit_env == {"E": "1"}
    assert [spec.command for spec in specs[:2]] == [
        ("a", str(first + n)) for n in range(min(2, n_jobs))
    ]
    with pytest.raises(IndexError):
        specs[n_jobs]


def test_array_of_millions_is_as_small_as_its_template() -> None:
    one, many = (
        encode_array(JobSpec(command=("/bin/echo", "$WEFT_INDEX")), ArrayRange(0, n_jobs))
        for n_jobs in (1, 16_000_000)
    )

    assert len(many) <= len(one) + 8


def test_chunks_of_before_arrays_are_read() -> None:
    """They have two fields; stored ones are not written again."""
    specs = [JobSpec(command=("true",)), JobSpec()]

    assert list(decode_chunk(encode_chunk(specs))) == specs
    old = compress_chunk(b"\x92\xc0\x92\x81\xa7command\x91\xa4true\x80")
    assert list(decode_chunk(old)) == specs


@cases(
    ("word", "found"),
    [
        ("{value}.png", "a b.png"),
        ("$WEFT_ARRAY_VALUE,${WEFT_ARRAY_VALUE}", "a b,a b"),
        ("$WEFT_ARRAY_VALUES {values} {{value}}", "$WEFT_ARRAY_VALUES {values} {a b}"),
        ("{value}-$WEFT_INDEX-{value}", "a b-7-a b"),
    ],
)
def test_a_value_is_put_in_like_the_index(word: str, found: str) -> None:
    spec = spec_at(JobSpec(command=("run", word), env={"WORD": word}), 7, "a b")

    assert spec.command == ("run", found)
    assert spec.env == {"WORD": found, "WEFT_INDEX": "7", "WEFT_ARRAY_VALUE": "a b"}


def test_what_is_in_a_value_or_in_an_array_without_any_stays() -> None:
    template = JobSpec(command=("{value}", "$WEFT_ARRAY_VALUE"))

    assert spec_at(template, 7).command == template.command
    tricky = "$WEFT_INDEX {value} \\1"
    assert spec_at(template, 7, tricky).command == (tricky, tricky)


@given(st.lists(st.text(max_size=20), min_size=1, max_size=50), st.integers(0, 9))
def test_chunk_of_an_array_over_values_has_a_spec_for_each(values: list[str], first: int) -> None:
    template = JobSpec(command=("a", "{value}"), executor="function")
    specs = decode_chunk(encode_array(template, ArrayRange(first, len(values)), None, values))

    assert [spec.command for spec in specs] == [("a", value) for value in values]
    assert {spec.executor for spec in specs} == {"function"}


@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=3000))
def test_values_are_cut_into_parts_that_fit_a_chunk(lengths: list[int]) -> None:
    values = ["x" * length for length in lengths]
    parts = list(cut_values(values))

    assert [value for _, part in parts for value in part] == values
    assert [start for start, _ in parts] == list(
        accumulate((len(part) for _, part in parts[:-1]), initial=0)
    )
    for _, part in parts:
        assert 0 < len(part) <= CHUNK_VALUES_MAX
        assert len(part) == 1 or 4 * sum(map(len, part)) <= CHUNK_BYTES_MAX
