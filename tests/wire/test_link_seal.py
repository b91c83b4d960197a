"""Secrets on their way to a worker outside."""

import pytest

from cases import cases
from weft.extensions.link.seal import LinkKey, LinkSealer
from weft.wire.sealed import SecretRow

ROW = SecretRow(1, 2, "db")


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
