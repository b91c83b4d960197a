"""Issuers at which people log in: their entries in the file, and requests to them."""

import asyncio
from pathlib import Path

import pytest

from api.openid import CLIENT, Provider, entry_of
from weft.api.web_tokens.bearers import Bearer, IssuerAway
from weft.api.web_tokens.issuer_document import IssuerDocument
from weft.api.web_tokens.issuers import Issuer, read_issuers
from weft.api.web_tokens.providers import RETRY_S
from weft.api.web_tokens.providers import Provider as Asked
from weft.net.failures import Late
from weft.ports.shared_room import SharedRoom
from weft.settings.declare import InvalidSetting


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"client_secret_file": "a", "client_secret_env": "B"}, "only one of"),
        ({"client_secret_env": "WEFT_NO_SUCH_VARIABLE"}, "empty or malformed"),
        ({"issuer": "http://login.example"}, "begins with https"),
        ({"client_id": "", "client_secret_env": "B"}, "client_id"),
    ],
)
def test_entry_with_a_mistake(
    tmp_path: Path, openid: Provider, fields: dict[str, str], why: str
) -> None:
    (tmp_path / "issuers.toml").write_text(entry_of(openid, **fields))

    with pytest.raises(InvalidSetting, match=why):
        read_issuers(tmp_path / "issuers.toml")


def test_secret_is_not_in_what_is_printed_of_an_entry(
    tmp_path: Path, openid: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLIENT_SECRET", "swordfish")
    (tmp_path / "issuers.toml").write_text(entry_of(openid, client_secret_env="CLIENT_SECRET"))
    (issuer,) = read_issuers(tmp_path / "issuers.toml")

    assert issuer.client_secret == "swordfish"
    assert "swordfish" not in repr(issuer)


class _Nobody:
    async def verify_login(self, token: str, issuer: IssuerDocument, nonce: str | None) -> Bearer:
        raise NotImplementedError


def asked(openid: Provider, now: list[float]) -> Asked:
    document = IssuerDocument(
        tenant="local", issuer=openid.url, audience="weft", pem="x", client_id=CLIENT
    )
    return Asked(Issuer(document, Path()), _Nobody(), SharedRoom(1), clock=lambda: now[0])


async def test_nobody_waits_for_an_issuer_that_others_have_waited_for(
    openid: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hangs for longer than it is left alone."""
    now = [0.0]

    async def hang(_: str) -> bytes:
        now[0] += RETRY_S + 1
        raise Late

    monkeypatch.setattr("weft.api.web_tokens.providers.fetch", hang)
    one = asked(openid, now)
    came = await asyncio.gather(*(one.begin_device() for _ in range(5)), return_exceptions=True)

    assert list(map(type, came)) == [IssuerAway] * 5
    assert now == [RETRY_S + 1]


async def test_description_counts_for_a_while_when_the_issuer_is_away(openid: Provider) -> None:
    """It is asked again after some seconds, however many people come."""
    now = [0.0]
    one = asked(openid, now)
    ask = {"redirect_uri": "x", "state": "s", "nonce": "n", "challenge": "c"}
    openid.sent["/.well-known/openid-configuration"] = (500, {}, b"")
    with pytest.raises(IssuerAway):
        await one.authorization_url(**ask)
    openid.sent.clear()
    with pytest.raises(IssuerAway):
        await one.authorization_url(**ask)
    now[0] = 6
    url = await one.authorization_url(**ask)
    openid.sent["/.well-known/openid-configuration"] = (500, {}, b"")
    now[0] = 3600

    assert await one.authorization_url(**ask) == url
    now[0] = 3607
    with pytest.raises(IssuerAway):
        await one.authorization_url(**ask)
