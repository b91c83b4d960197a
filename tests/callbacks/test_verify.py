"""What a receiver believes: the right secret, an unchanged body, and not long ago."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.callbacks import CallbackNotGenuine, verify
from weft.core.deliveries.callback_signature import sign, tenant_secret

SECRET = "weftcb_of-a-test"
NOW = 1_800_000_000
BODY = json.dumps({"id": 12, "state": "success"}).encode()


def signed(
    body: bytes = BODY, *, secret: str = SECRET, delivery: str = "d-1", sent_at: int = NOW
) -> dict[str, str]:
    signature = sign(secret, sent_at=sent_at, delivery=delivery, body=body)
    return {"Weft-Signature": signature, "Weft-Delivery": delivery}


def test_genuine_callback_is_returned() -> None:
    callback = verify(SECRET, signed(), BODY, now=NOW + 299)

    assert (callback.delivery, callback.document) == ("d-1", {"id": 12, "state": "success"})


def test_header_names_are_of_any_case_and_secrets_may_be_several() -> None:
    headers = {name.lower(): value for name, value in signed().items()}

    assert verify(["new", SECRET], headers, BODY, now=NOW).delivery == "d-1"


def test_signature_is_the_documented_one() -> None:
    """What receivers in other languages compute: it must never change."""
    headers = signed(b"{}", secret="s", delivery="d", sent_at=1)

    assert headers["Weft-Signature"] == (
        "t=1,v1=64aef1274068bf22d91b3dc3927501daa69b634600e2f62664f59834cc8abda3"
    )


GENUINE = signed()
WRONG: dict[str, tuple[Mapping[str, str], bytes]] = {
    "no headers": ({}, BODY),
    "no delivery": ({"Weft-Signature": GENUINE["Weft-Signature"]}, BODY),
    "other body": (GENUINE, BODY + b" "),
    "empty body": (GENUINE, b""),
    "other delivery": ({**GENUINE, "Weft-Delivery": "d-2"}, BODY),
    "other secret": (signed(secret="other"), BODY),
    "too old": (signed(sent_at=NOW - 301), BODY),
    "from the future": (signed(sent_at=NOW + 301), BODY),
    "time changed": (
        {
            **GENUINE,
            "Weft-Signature": GENUINE["Weft-Signature"].replace(f"t={NOW}", f"t={NOW + 1}"),
        },
        BODY,
    ),
    "no time": ({**GENUINE, "Weft-Signature": GENUINE["Weft-Signature"].split(",")[1]}, BODY),
    "two times": ({**GENUINE, "Weft-Signature": GENUINE["Weft-Signature"] + f",t={NOW}"}, BODY),
    "no digest": ({**GENUINE, "Weft-Signature": f"t={NOW}"}, BODY),
    "empty digest": ({**GENUINE, "Weft-Signature": f"t={NOW},v1="}, BODY),
    "another version": (
        {**GENUINE, "Weft-Signature": GENUINE["Weft-Signature"].replace("v1", "v0")},
        BODY,
    ),
    "not ASCII": ({**GENUINE, "Weft-Signature": f"t={NOW},v1=\u00e4\ud800"}, BODY),
    "time of other digits": (
        {**GENUINE, "Weft-Signature": GENUINE["Weft-Signature"].replace("t=1", "t=\u0661")},
        BODY,
    ),
}


@cases("name", WRONG)
def test_anything_else_is_refused(name: str) -> None:
    headers, body = WRONG[name]

    with pytest.raises(CallbackNotGenuine) as caught:
        verify(SECRET, headers, body, now=NOW)
    assert caught.value.detail
    assert SECRET not in str(vars(caught.value))


@pytest.mark.heavy
@given(st.binary(max_size=200), st.text(max_size=30), st.text(max_size=100))
def test_no_request_of_a_stranger_is_genuine(body: bytes, delivery: str, signature: str) -> None:
    for text in (signature, f"t={NOW},v1={signature}", f"t={signature},v1=00"):
        with pytest.raises(CallbackNotGenuine):
            verify(SECRET, {"Weft-Signature": text, "Weft-Delivery": delivery}, body, now=NOW)


@given(st.binary(min_size=1, max_size=64), st.integers(0, 63), st.integers(1, 255))
def test_a_changed_byte_is_noticed(body: bytes, place: int, change: int) -> None:
    changed = bytearray(body)
    changed[place % len(body)] ^= change

    with pytest.raises(CallbackNotGenuine):
        verify(SECRET, signed(body), bytes(changed), now=NOW)


def test_tenants_have_secrets_of_their_own() -> None:
    secrets = {tenant_secret(key, tenant) for key in ("a", "b") for tenant in (1, 2, 12)}

    assert len(secrets) == 6
    assert all(one.startswith("weftcb_") for one in secrets)
