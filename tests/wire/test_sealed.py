"""What is stored of a secret opens only with its key, and only in its row, also on its way to a
worker outside.
"""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.errors import SecretKeyMissing
from weft.wire.sealed import (
    SecretKeys,
    SecretRow,
    folded,
    key_id_of,
    new_key,
    opened,
    opened_link,
    parse_keys,
)
from weft_link.seal import LinkKey, LinkSealer

OLD, NEW = (parse_keys(new_key())[0] for _ in range(2))
ROW = SecretRow(1, 2, "db")


@given(st.text(min_size=1), st.integers(0, 36))
def test_value_opens_as_it_was_and_not_if_a_byte_of_it_changed(value: str, at: int) -> None:
    body = SecretKeys([OLD]).seal(value, ROW)
    changed = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]

    assert SecretKeys([OLD]).open(body, ROW) == value
    with pytest.raises((ValueError, SecretKeyMissing)):
        SecretKeys([OLD]).open(changed, ROW)


@pytest.mark.parametrize("row", [ROW._replace(tenant_id=3), SecretRow(1, 3, "db"), (1, 2, "dc")])
def test_value_that_is_moved_to_another_row_does_not_open(row: tuple[int, int, str]) -> None:
    body = SecretKeys([OLD]).seal("swordfish", ROW)

    with pytest.raises(ValueError, match="moved"):
        SecretKeys([OLD]).open(body, SecretRow(*row))


def test_first_key_encrypts_and_all_decrypt() -> None:
    body = SecretKeys([OLD]).seal("swordfish", ROW)
    both = SecretKeys([NEW, OLD])
    anew = both.seal("swordfish", ROW)

    assert both.open(body, ROW) == both.open(anew, ROW) == "swordfish"
    assert key_id_of(anew) == both.current == SecretKeys([NEW]).current != key_id_of(body)
    assert anew != both.seal("swordfish", ROW)
    with pytest.raises(SecretKeyMissing) as missing:
        SecretKeys([NEW]).open(body, ROW)
    assert key_id_of(body).hex() in missing.value.message
    with pytest.raises(SecretKeyMissing):
        SecretKeys().seal("swordfish", ROW)


@cases("text", ["", "swordfish", base64.b64encode(bytes(31)).decode(), "é" * 44])
def test_wrong_key_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(ValueError, match="key") as wrong:
        parse_keys(text)

    assert not text or text not in str(wrong.value)
    assert parse_keys(f"{base64.b64encode(OLD).decode()} {new_key()},{new_key()}")[0] == OLD


def test_options_are_opened_and_what_a_server_repeats_of_them_is_folded() -> None:
    """A link that it gives is the same when it is opened again."""
    keys, value = SecretKeys([OLD]), "sword/f@sh"
    body = base64.b64encode(keys.seal(value, ROW)).decode()
    sealed = {"tenant_id": 1, "user_id": 2, "bodies": {"db": body}}
    name = "${secret.db}"
    found = opened({"url": f"https://{name}@x/", "headers": {"A": [name, 3]}}, sealed, keys)

    assert found.options == {"url": "https://sword%2Ff%40sh@x/", "headers": {"A": [value, 3]}}
    link = "/next?token=sword%2Ff%40sh"
    told = folded({"next": link, value: [f"no {value}", None]}, found.values)
    assert told == {"next": f"/next?token={name}", name: [f"no {name}", None]}
    assert opened_link(told["next"], found.values) == link
    assert opened_link("${secret.other}", found.values) == "${secret.other}"
    with pytest.raises(ValueError, match="its owner has no secret other"):
        opened({"url": "${secret.other}"}, sealed, keys)


def test_the_worker_opens_what_was_sealed_for_it() -> None:
    key = LinkKey()
    sealer = LinkSealer(key.public)
    for value in ("", "swordfish", "é" * 10_000):
        assert key.open(sealer.seal(value, ROW), ROW) == value


def test_same_value_looks_different_each_time() -> None:
    key = LinkKey()
    sealer = LinkSealer(key.public)
    bodies = [sealer.seal("swordfish", ROW), sealer.seal("swordfish", ROW)]
    assert bodies[0] != bodies[1]
    assert b"swordfish" not in b"".join(bodies)


def test_nobody_else_opens_it_and_no_byte_is_changed() -> None:
    key = LinkKey()
    body = LinkSealer(key.public).seal("swordfish", ROW)
    with pytest.raises(ValueError, match="another worker"):
        LinkKey().open(body, ROW)
    with pytest.raises(ValueError, match="changed"):
        key.open(body, ROW._replace(user_id=3))
    for at in range(len(body)):
        with pytest.raises(ValueError, match=r"changed|another release"):
            key.open(body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :], ROW)
    for size in range(len(body)):
        with pytest.raises(ValueError, match=r"changed|another release"):
            key.open(body[:size], ROW)


@cases("public", [b"", bytes(31), bytes(33), bytes(32)])
def test_what_is_no_key_is_refused(public: bytes) -> None:
    with pytest.raises(ValueError):
        LinkSealer(public)
