"""Tokens that a gateway of WSO2 hands over, as Agave's and Aloe's services get them."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from joserfc import jws

from api.fakes import SilentNotices, client_of
from api.test_web_tokens import EC, RSA, AdmittingStore, pem_of, raw_token, token_of, web_tokens
from cases import cases
from weft.api.app import create_app
from weft.api.web_tokens.bearers import Bearer, TokenRefused
from weft.core.access.rights import UserRole
from weft.settings import Settings
from weft.settings.declare import InvalidSetting
from weft_aloe.routes import SERVED

ISSUER = "wso2.org/products/am"
ENTRY = f"""
[[issuers]]
form = "wso2"
tenant = "science"
issuer = "{ISSUER}"
header = "X-JWT-Assertion-acme-prod"
"""
HEADER = "x-jwt-assertion-acme-prod"
CLAIMS = "http://wso2.org/claims/"
PATH = "/jobs/search/nothing/x"
"""A route that refuses with 400 whoever is let in."""
USER, ADMIN = UserRole.USER, UserRole.TENANT_ADMIN


def claims(user: object = "ada", **more: object) -> dict[str, Any]:
    """Return what a gateway says of a user."""
    said = {"enduser": user, "subscriber": "ada", **more}
    named = {f"{CLAIMS}{name}": one for name, one in said.items() if one is not None}
    return {"iss": ISSUER, "aud": None, "sub": None, **named}


def assertion(user: object = "ada", **more: object) -> str:
    return token_of(RSA, "RS256", **claims(user, **more))


async def bearer_of(folder: Path, token: str, header: str | None = HEADER) -> Bearer:
    return await web_tokens(folder, ENTRY, RSA).verify(token, header)


@cases(
    ("given", "user"),
    [
        ("ada", "ada"),
        ("ada@carbon.super", "ada"),
        ("ada@acme.prod", "ada"),
        ("PRIMARY/ada@carbon.super", "ada"),
        ("LDAP/ada", "ada"),
        ("ada@other.example", "ada@other.example"),
    ],
)
async def test_user_is_named_without_store_and_tenant(
    tmp_path: Path, given: str, user: str
) -> None:
    bearer = await bearer_of(tmp_path, assertion(given))
    assert (bearer.tenant, bearer.user_name, bearer.role) == ("science", user, USER)


@cases(
    ("roles", "role"),
    [
        ("Internal/everyone", USER),
        ("a, Internal/acme.prod-services-admin", ADMIN),
        ("x-super-admin", ADMIN),
        ("Internal/other-services-admin", USER),
        (7, USER),
        ("", USER),
        ("acme.prod-services-admins", USER),
    ],
)
async def test_administrators_have_a_role_of_their_tenant(
    tmp_path: Path, roles: object, role: UserRole
) -> None:
    assert (await bearer_of(tmp_path, assertion(role=roles))).role is role


async def test_algorithm_may_have_the_name_that_the_gateway_gives_it(tmp_path: Path) -> None:
    head = {"typ": "JWT", "alg": "SHA256withRSA"}
    said = {**claims(), "exp": int(time.time()) + 60}
    unsigned = raw_token(head, said).rpartition(".")[0]
    signature = jws.JWSRegistry.algorithms["RS256"].sign(unsigned.encode(), RSA)
    assert (await bearer_of(tmp_path, raw_token(head, said, signature))).user_name == "ada"
    other = {**said, f"{CLAIMS}enduser": "eve"}
    with pytest.raises(TokenRefused, match="signature"):
        await bearer_of(tmp_path, raw_token(head, other, signature))


REFUSED: dict[str, tuple[Callable[[], str], str]] = {
    "no user": (lambda: assertion(None), "claims/enduser` names no user"),
    "user as number": (lambda: assertion(7), "names no user"),
    "only a store": (lambda: assertion("PRIMARY/"), "names no user"),
    "no subscriber": (lambda: assertion(subscriber=None), "claims/subscriber` names nobody"),
    "of the usual claims": (
        lambda: assertion(None) and token_of(RSA, "RS256", iss=ISSUER, aud=None, sub="ada"),
        "names nobody",
    ),
    "expired": (lambda: token_of(RSA, "RS256", **claims(), exp=1), "expired"),
    "no exp": (lambda: token_of(RSA, "RS256", **claims(), exp=None), "no claim `exp`"),
    "other issuer": (
        lambda: token_of(RSA, "RS256", **{**claims(), "iss": "else"}),
        "not known here",
    ),
    "unsigned": (lambda: raw_token({"alg": "none"}, claims()), "algorithm"),
    "of another kind": (lambda: token_of(EC, **claims()), "algorithm is not"),
    "RS512": (lambda: token_of(RSA, "RS512", **claims()), "algorithm is not"),
    "PS256": (lambda: token_of(RSA, "PS256", **claims()), "algorithm is not"),
    "HMAC": (lambda: raw_token({"alg": "HS256"}, claims()), "algorithm is not"),
    "signature cut off": (lambda: assertion().rpartition(".")[0] + ".", "signature"),
    "own key": (
        lambda: token_of(RSA, "RS256", {"jwk": RSA.as_dict(private=False)}, **claims()),
        "a key of its own",
    ),
}


@cases("what", REFUSED)
async def test_refused(tmp_path: Path, what: str) -> None:
    make, why = REFUSED[what]
    with pytest.raises(TokenRefused, match=why):
        await bearer_of(tmp_path, make())


async def test_it_counts_in_its_own_header_alone(tmp_path: Path) -> None:
    for header in (None, "x-jwt-assertion-other"):
        with pytest.raises(TokenRefused, match="not known here"):
            await bearer_of(tmp_path, assertion(), header)


@cases(
    ("line", "why"),
    [
        ('audience = "weft"', "decides about `audience`"),
        ('algorithms = ["ES256"]', "decides about `algorithms`"),
        ('role_claim = "r"\nroles = { a = "user" }', "decides about `role_claim`"),
        ('client_id = "c"', "decides about `client_id`"),
    ],
)
def test_entry_says_nothing_that_its_form_decides(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(InvalidSetting, match=why):
        web_tokens(tmp_path, ENTRY + line + "\n", RSA)


@pytest.mark.parametrize("header", ["X-JWT-Assertion", "X-JWT-Assertion-", "X-Other-acme"])
def test_header_of_an_entry_names_a_tenant(tmp_path: Path, header: str) -> None:
    with pytest.raises(InvalidSetting, match="needs a `header`"):
        web_tokens(tmp_path, ENTRY.replace("X-JWT-Assertion-acme-prod", header), RSA)


async def test_on_paths_of_the_door_an_assertion_counts_before_a_bearer(tmp_path: Path) -> None:
    """Believed or refused, in each way in which gateways write the tenant."""
    path = tmp_path / "issuers.toml"
    path.write_text(f'{ENTRY}\npem = """{pem_of(RSA)}"""')
    settings = Settings(home=tmp_path, issuers_file=path)
    app = create_app(
        cast("Any", AdmittingStore()), SilentNotices(), cast("Any", None), settings, doors=[SERVED]
    )
    good, bad = assertion(), assertion(None)
    bearer = ("authorization", "Bearer good")
    async with client_of(app) as client:

        async def status(path: str, *headers: tuple[str, str]) -> int:
            return (await client.get(path, headers=list(headers))).status_code

        for name in (HEADER, "X-JWT-Assertion-ACME_PROD", "x-jwt-assertion-acme.prod"):
            assert await status(PATH, (name, good)) == 400
        assert await status(PATH, (HEADER, good), bearer) == 400
        for name, token in (
            (HEADER, bad),
            ("X-JWT-Assertion", good),
            ("X-JWT-Assertion-other", good),
        ):
            assert await status(PATH, (name, token), bearer) == 401
        refused = await client.get(PATH, headers=[(HEADER, bad)])
        assert refused.json()["fault"]["code"] == 900901
        late = token_of(RSA, "RS256", **claims(), exp=1)
        expired = (await client.get(PATH, headers=[(HEADER, late)])).json()["fault"]
        assert (expired["code"], expired["message"]) == (900903, "Invalid Credentials")
