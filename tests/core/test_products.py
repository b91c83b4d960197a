"""The form of `$WEFT_PRODUCTS`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.files.products import PRODUCT_BYTES_MAX, WrongProducts, read_products


def read(content: bytes) -> object:
    return read_products(content, products_max=2, bytes_max=1 << 20)


def test_each_line_is_a_product_and_empty_lines_are_none() -> None:
    assert read(b'{"type": "FSC"}\n\n {"n": 1.5}') == [{"type": "FSC"}, {"n": 1.5}]
    assert read(b"") == []


@cases(
    ("content", "why"),
    [
        (b"{}\n[]", "line 2 is no JSON object"),
        (b"{", "line 1 is no JSON object"),
        (b"\xff", "line 1 is no JSON object"),
        (b'{"a": NaN}', "line 1 is no JSON object"),
        (b'{"a":' * 100_000, "line 1 has more than"),
        (b'{"a":' * 10_000, "line 1 is no JSON object"),
        (b'{"a": "\\ud800"}', "line 1 is no JSON object"),
        (b'{"a": ["\\u0000"]}', "line 1 has a NUL"),
        (b'{"\\u0000": 1}', "line 1 has a NUL"),
        (b'{"a": [' + b"1e308," * 1000 + b"1]}", "very large or small"),
        (b'{"a": [' + b"1e-300," * 1000 + b"1]}", "very large or small"),
        (b"{}\n{}\n{}", "more than 2 .products_max"),
        (b"\n" * (1 << 21), "product_bytes_max"),
        (b'{"a": "' + b"x" * PRODUCT_BYTES_MAX + b'"}', "line 1 has more than"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_line(content: bytes, why: str) -> None:
    with pytest.raises(WrongProducts, match=why):
        read(content)


@given(st.binary(max_size=200))
def test_any_bytes_are_products_or_refused(content: bytes) -> None:
    try:
        read(content)
    except WrongProducts:
        return
