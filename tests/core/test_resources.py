import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.billing.resources import (
    BYTES_MAX,
    CPU_M_MAX,
    MIB,
    parse_bytes,
    parse_cpu_m,
    parse_mebibytes,
    parse_memory_mib,
)


@cases(
    ("text", "size"),
    [
        ("512Mi", 512 * 2**20),
        ("4Gi", 4 * 2**30),
        ("4GiB", 4 * 2**30),
        ("1.5G", 1_500_000_000),
        ("100 k", 100_000),
        ("4gi", 4 * 2**30),
        ("4g", 4_000_000_000),
        ("512mb", 512_000_000),
        ("1073741824", 2**30),
        ("0", 0),
        (0, 0),
        (4096.0, 4096),
    ],
)
def test_sizes_as_people_write_them(text: str | float, size: int) -> None:
    assert parse_bytes(text) == size


@cases(
    "value",
    [
        "",
        "-1",
        "Mi",
        "1 Xi",
        "1e9",
        "nan",
        -1,
        0.5,
        float("nan"),
        float("inf"),
        True,
        None,
        [],
        "9" * 30,
    ],
)
def test_what_is_no_size_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"size|bytes"):
        parse_bytes(value)  # type: ignore[arg-type]  # wrong types are the point


@given(st.integers(0, BYTES_MAX))
def test_every_whole_number_of_bytes_reads_back(size: int) -> None:
    assert parse_bytes(size) == size
    assert parse_bytes(str(size)) == size


@cases("value", [1000, "1000", " 4 ", 0.5e6])
def test_number_that_cannot_count_bytes_is_asked_back(value: str | float) -> None:
    with pytest.raises(ValueError, match="has no unit: write"):
        parse_mebibytes(value)


@cases(
    ("parse", "value", "message"),
    [
        (parse_memory_mib, 0, "no memory"),
        (parse_memory_mib, "0Mi", "no memory"),
        (parse_memory_mib, "-4Gi", "negative"),
        (parse_memory_mib, -1, "negative"),
        (parse_cpu_m, 0, "no cores"),
        (parse_cpu_m, "0m", "no cores"),
        (parse_cpu_m, -1, "cores cannot be negative"),
        (parse_cpu_m, "-250m", "cores cannot be negative"),
    ],
)
def test_zero_and_less_have_a_message_each(
    parse: Callable[[str | float], int], value: str | float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        parse(value)


@given(st.integers(MIB, BYTES_MAX))
def test_mebibytes_are_rounded_up(size: int) -> None:
    mebibytes = parse_mebibytes(size)

    assert size <= mebibytes * MIB < size + MIB


@cases(
    ("value", "cpu_m"),
    [(1, 1000), (0.25, 250), ("250m", 250), ("0.25", 250), (2.5, 2500), (0.0001, 1), ("0.5m", 1)],
)
def test_cores_as_people_write_them(value: str | float, cpu_m: int) -> None:
    assert parse_cpu_m(value) == cpu_m


@cases(
    "value",
    [0, -1, "", "m", "two", float("nan"), float("inf"), False, None, 10**9, "-250m", "sNaN", {}],
)
def test_what_is_no_number_of_cores_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="cores"):
        parse_cpu_m(value)  # type: ignore[arg-type]  # wrong types are the point


@given(st.integers(1, CPU_M_MAX))
def test_every_whole_number_of_mcpu_reads_back(cpu_m: int) -> None:
    assert parse_cpu_m(f"{cpu_m}m") == cpu_m
    assert parse_cpu_m(cpu_m / 1000) == cpu_m


@given(st.one_of(st.text(), st.integers(), st.floats()))
def test_no_value_breaks_the_parsers(value: str | float) -> None:
    for parse, largest in ((parse_bytes, BYTES_MAX), (parse_cpu_m, CPU_M_MAX)):
        with contextlib.suppress(ValueError):
            assert 0 <= parse(value) <= largest
