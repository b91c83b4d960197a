"""JSON web tokens: which are believed, by which keys, and who their bearers are."""

import asyncio
import base64
import hmac
import json
import time
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from joserfc import jwk, jws, jwt
from joserfc.errors import SecurityWarning

from api.fakes import RecordingStore
from callbacks.receiver import answering, receiving
from cases import cases
from weft.api.http.identity import Identities
from weft.api.use_cases import tokens
from weft.api.web_tokens.bearers import Bearer, TokenRefused
from weft.api.web_tokens.fetching import fetch
from weft.api.web_tokens.issuers import read_issuers
from weft.api.web_tokens.key_sets import Key, keys_in
from weft.api.web_tokens.keys import KeysAway, SourceKeys
from weft.api.web_tokens.verify import WebTokens
from weft.core.access.rights import UserRole
from weft.core.errors import Unauthenticated, Unavailable
from weft.ports.store import Caller, Origin, Row
from weft.settings import Settings
from weft.settings.declare import InvalidSetting
from weft.store import ApiStore
from weft.wire.documents.tokens import TokenDocument

RSA = jwk.RSAKey.generate_key(2048)
EC = jwk.ECKey.generate_key("P-256")
ED = jwk.OKPKey.generate_key("Ed25519")
OTHER = jwk.ECKey.generate_key("P-256")
ES256 = jws.JWSRegistry.algorithms["ES256"]
ISSUER = "https://issuer.example.org"
USUAL = f"""
[[issuers]]
tenant = "default"
issuer = "{ISSUER}"
audience = "weft"
"""


def pem_of(key: Key) -> str:
    return str(key.as_pem(private=False).decode())


def web_tokens(folder: Path, text: str, key: Key | None = EC) -> WebTokens:
    path = folder / "issuers.toml"
    path.write_text(text if key is None else f'{text}\npem = """{pem_of(key)}"""')
    return WebTokens(read_issuers(path))


def token_of(
    key: Key = EC, alg: str = "ES256", head: dict[str, Any] | None = None, **claims: object
) -> str:
    usual = {"iss": ISSUER, "aud": "weft", "sub": "ada", "exp": int(time.time()) + 600}
    given = {name: one for name, one in {**usual, **claims}.items() if one is not None}
    registry = jws.JWSRegistry(algorithms=[alg], strict_check_header=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return jwt.encode({"alg": alg, **(head or {})}, given, key, registry=registry)


def raw_token(head: object, claims: object, signature: bytes = b"") -> str:
    """Return a token of any text, signed by nobody."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in (head, claims)]
    parts = [*(text.encode() for text in texts), signature]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def signed(head: dict[str, Any]) -> str:
    """Return a good token with a header that the library would not sign."""
    claims = {"iss": ISSUER, "aud": "weft", "sub": "ada", "exp": 1 << 40}
    text = raw_token({"alg": "ES256", **head}, claims).rpartition(".")[0]
    return raw_token({"alg": "ES256", **head}, claims, ES256.sign(text.encode(), EC))


def hs256_with_the_public_key() -> str:
    head, claims = {"alg": "HS256"}, {"iss": ISSUER, "aud": "weft", "sub": "ada", "exp": 1 << 40}
    signed = raw_token(head, claims).rpartition(".")[0]
    digest = hmac.digest(pem_of(EC).encode(), signed.encode(), "sha256")
    return raw_token(head, claims, digest)


def claims_twice() -> str:
    """Return a token with two users, of which each reader may take another."""
    text = f'{{"iss": "{ISSUER}", "aud": "weft", "exp": {1 << 40}, "sub": "ada", "sub": "root"}}'
    return jws.serialize_compact({"alg": "ES256"}, text, EC)


@cases(("key", "alg"), [(RSA, "RS256"), (EC, "ES256"), (ED, "EdDSA"), (ED, "Ed25519")])
async def test_token_of_each_algorithm(tmp_path: Path, key: Key, alg: str) -> None:
    issuers = web_tokens(tmp_path, USUAL, key)
    expires = int(time.time()) + 60

    bearer = await issuers.verify(token_of(key, alg, exp=expires))

    assert bearer == Bearer("default", "ada", None, may_create=False, expires_at=expires + 30)


REFUSED: dict[str, tuple[Callable[[], str], str]] = {
    "alg none": (
        lambda: raw_token({"alg": "none"}, {"iss": ISSUER, "aud": "weft"}),
        "algorithm is not",
    ),
    "HS256 with the public key": (hs256_with_the_public_key, "algorithm is not"),
    "algorithm of another key": (lambda: token_of(RSA, "RS256"), "No key of its issuer"),
    "key of somebody else": (lambda: token_of(OTHER), "signature"),
    "no signature": (lambda: token_of().rpartition(".")[0] + ".", "signature"),
    "two parts": (lambda: token_of().rpartition(".")[0], "malformed"),
    "kid as path": (lambda: token_of(head={"kid": "../../etc/passwd"}), ""),
    "kid as SQL": (lambda: token_of(head={"kid": "' OR 1=1 --"}), ""),
    "jku": (lambda: token_of(head={"jku": "http://127.0.0.1/keys"}), "a key of its own"),
    "x5u": (lambda: token_of(head={"x5u": "http://127.0.0.1/keys"}), "a key of its own"),
    "own key": (lambda: token_of(OTHER, head={"jwk": OTHER.as_dict()}), "a key of its own"),
    "unknown crit": (lambda: signed({"crit": ["x"], "x": 1}), "header is not one"),
    "empty crit": (lambda: signed({"crit": []}), "header is not one"),
    "crit of a usual header": (lambda: signed({"crit": ["alg"]}), "header is not one"),
    "unencoded payload": (lambda: signed({"crit": ["b64"], "b64": False}), "header is not one"),
    "expired": (lambda: token_of(exp=int(time.time()) - 60), "expired"),
    "of the future": (lambda: token_of(nbf=int(time.time()) + 60), "not valid yet"),
    "made in the future": (lambda: token_of(iat=int(time.time()) + 60), "not valid yet"),
    "no exp": (lambda: token_of(exp=None), "no claim `exp`"),
    "exp as text": (lambda: token_of(exp="tomorrow"), "not a time"),
    "exp as truth": (lambda: token_of(exp=True), "not a time"),
    "endless exp": (lambda: token_of(exp=10**400), "not a time"),
    "wrong audience": (lambda: token_of(aud="others"), "issuer and audience"),
    "no audience": (lambda: token_of(aud=None), "issuer and audience"),
    "wrong issuer": (lambda: token_of(iss="https://evil.example.org"), "issuer and audience"),
    "no user": (lambda: token_of(sub=None), "names no user"),
    "user as number": (lambda: token_of(sub=7), "names no user"),
    "user with a line break": (lambda: token_of(sub="ada\nroot"), "names no user"),
    "claims twice": (claims_twice, "malformed"),
    "claims as a list": (lambda: raw_token({"alg": "ES256"}, [1]), "malformed"),
    "nested without end": (lambda: raw_token({"alg": "ES256"}, "[" * 5000), "malformed"),
    "no base64": (lambda: "eyJ\u00fc.e.f", "malformed"),
}


@cases("what", REFUSED)
async def test_refused_token(tmp_path: Path, what: str) -> None:
    make, why = REFUSED[what]
    token = make()
    if what.startswith("kid"):
        keys = {"keys": [{**EC.as_dict(private=False), "kid": "a"}]}
        (tmp_path / "keys.json").write_text(json.dumps(keys))
        issuers = web_tokens(tmp_path, USUAL + 'jwks_file = "keys.json"', None)
        why = "No key of its issuer"
    else:
        issuers = web_tokens(tmp_path, USUAL)

    with pytest.raises(TokenRefused) as refused:
        await issuers.verify(token)

    assert why in str(refused.value)


async def test_header_that_means_nothing_is_passed_over(tmp_path: Path) -> None:
    bearer = await web_tokens(tmp_path, USUAL).verify(signed({"x": 1}))
    assert bearer.tenant == "default"


async def test_keys_of_one_tenant_open_no_other(tmp_path: Path) -> None:
    other = USUAL.replace('"default"', '"physics"').replace("issuer.ex", "other.ex")
    text = f'{USUAL}\npem = """{pem_of(EC)}"""\n{other}'
    issuers = web_tokens(tmp_path, text, OTHER)
    theirs = ISSUER.replace("issuer.ex", "other.ex")

    assert (await issuers.verify(token_of(OTHER, iss=theirs))).tenant == "physics"
    with pytest.raises(TokenRefused):
        await issuers.verify(token_of(EC, iss=theirs))


async def test_roles_and_required_claims(tmp_path: Path) -> None:
    text = f"""{USUAL}
user_claim = "email"
role_claim = "groups"
roles = {{ ops = "operator", staff = "user" }}
required = {{ email_verified = true, apps = "weft" }}
create_users = true
"""
    issuers = web_tokens(tmp_path, text)
    given: dict[str, Any] = {
        "email": "ada@example.org",
        "email_verified": True,
        "apps": ["x", "weft"],
    }

    both = await issuers.verify(token_of(**given, groups=["staff", "ops", "others"]))
    none = await issuers.verify(token_of(**given, groups=["others"]))

    assert (both.user_name, both.role, both.may_create) == ("ada@example.org", "operator", True)
    assert none.role is UserRole.VIEWER
    with pytest.raises(TokenRefused, match="email_verified"):
        await issuers.verify(token_of(**{**given, "email_verified": 1}))


@cases(
    ("change", "why"),
    [
        ("", "exactly one of `pem`"),
        ('pem = "nonsense"', "not the PEM"),
        ('jwks_file = "missing.json"', "No such file"),
        ('jwks_url = "http://example.org/keys"', "https://"),
        ('jwks_url = "file:///etc/passwd"', "https://"),
        ('jwks_url = "https://example.org/keys"\nalgorithms = ["HS256"]', "HS256"),
        ('jwks_url = "https://example.org/keys"\nalgorithms = []', "algorithms"),
        ('jwks_url = "https://example.org/keys"\nleeway_s = -1', "leeway_s"),
        ('jwks_url = "https://example.org/keys"\ntypo = 1', "typo"),
        ('jwks_url = "https://example.org/keys"\nroles = { a = "user" }', "role_claim"),
        ('jwks_url = "https://example.org/keys"\nkeys_old_s = 1', "keys_old_s"),
        (
            'jwks_url = "https://example.org/keys"' + USUAL + 'jwks_url = "https://b.org/"',
            "another",
        ),
        ("not toml", "issuers_file"),
    ],
)
def test_wrong_file(tmp_path: Path, change: str, why: str) -> None:
    with pytest.raises(InvalidSetting) as failed:
        web_tokens(tmp_path, USUAL + change, None)

    assert why in str(failed.value)


def test_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"missing\.toml"):
        read_issuers(tmp_path / "missing.toml")


def test_weak_key_is_refused(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        weak = jwk.RSAKey.generate_key(1024)
        with pytest.raises(InvalidSetting, match="2048 to 8192 bits"):
            web_tokens(tmp_path, USUAL, weak)
    private = EC.as_pem(private=True).decode()
    with pytest.raises(InvalidSetting, match="private key"):
        web_tokens(tmp_path, f'{USUAL}\npem = """{private}"""', None)


class Site:
    """What is at the address of the keys."""

    def __init__(self) -> None:
        self.body = b""
        self.status = 200
        self.asked = 0


@asynccontextmanager
async def key_site() -> AsyncIterator[tuple[Site, str]]:
    site = Site()

    async def answer(writer: asyncio.StreamWriter) -> None:
        site.asked += 1
        headers = "location: /elsewhere\r\n" if site.status == 302 else ""
        await answering(site.status, body=site.body, headers=headers)(writer)

    async with receiving(answer) as receiver:
        yield site, receiver.url


def key_set(**keys: Key) -> bytes:
    found = [{**key.as_dict(private=False), "kid": name} for name, key in keys.items()]
    return json.dumps({"keys": found}).encode()


def url_keys(url: str, clock: Callable[[], float]) -> SourceKeys:
    return SourceKeys(url, lambda: asyncio.run(fetch(url)), 60, 600, clock)


async def test_keys_are_read_again_when_a_token_names_another() -> None:
    now = 0.0
    async with key_site() as (site, url):
        site.body = key_set(a=EC)
        keys = url_keys(url, lambda: now)
        first = [await keys.find("a", "ES256") for _ in range(3)]
        unknown = [await keys.find(f"x{n}", "ES256") for n in range(20)]
        asked = site.asked
        now, site.body = 6.0, key_set(b=RSA)
        second = await keys.find("b", "RS256")

        assert all(first)
        assert not any(unknown)
        assert asked == 1  # names that nobody knows make no storm
        assert second
        assert not await keys.find("a", "ES256")  # it was taken back


@cases(
    ("status", "body"),
    [
        (500, b""),
        (302, b""),
        (200, b"[]"),
        (200, b"x" * 2_000_000),
        (200, b"[" * 100_000),
    ],
)
async def test_old_keys_count_for_a_while(status: int, body: bytes) -> None:
    now = 0.0
    async with key_site() as (site, url):
        site.body = key_set(a=EC)
        keys = url_keys(url, lambda: now)
        assert await keys.find("a", "ES256")
        site.status, site.body = status, body
        now = 590.0
        assert await keys.find("a", "ES256")
        now = 601.0
        with pytest.raises(KeysAway):
            await keys.find("a", "ES256")
        site.status, site.body = 200, key_set(a=EC)
        now = 610.0
        assert await keys.find("a", "ES256")


def test_keys_that_make_work_are_left_out() -> None:
    usual = EC.as_dict(private=False)
    private = {**RSA.as_dict(private=True), "kid": "private"}
    slow = {**RSA.as_dict(private=False), "kid": "slow", "e": "AQAB" * 100}

    keys = keys_in(json.dumps({"keys": [private, slow, usual]}).encode())

    assert not keys.fitting("private", "RS256")
    assert not keys.fitting("slow", "RS256")
    assert len(keys.fitting(None, "ES256")) == 1
    with pytest.raises(ValueError, match="at most 100"):
        keys_in(json.dumps({"keys": [usual] * 101}).encode())


def test_keys_of_one_id_are_told_apart_by_the_algorithm() -> None:
    found = [{**key.as_dict(private=False), "kid": "a"} for key in (EC, RSA, OTHER)]

    keys = keys_in(json.dumps({"keys": found}).encode())

    assert len(keys.fitting("a", "RS256")) == 1
    assert len(keys.fitting("a", "ES256")) == 2


async def test_requests_share_one_reading_of_the_keys() -> None:
    async with key_site() as (site, url):
        site.body = key_set(a=EC)
        keys = url_keys(url, lambda: 0.0)

        found = await asyncio.gather(*(keys.find("a", "ES256") for _ in range(50)))

        assert all(found)
        assert site.asked == 1


class AdmittingStore(RecordingStore):
    """Knows ada of the tenant `default`."""

    def __init__(self) -> None:
        super().__init__()
        self.admitted: list[tuple[str, str]] = []

    async def admit_user(
        self, tenant: str, name: str, role: UserRole | None, *, may_create: bool
    ) -> Caller | None:
        assert not may_create
        self.admitted.append((tenant, name))
        return Caller(1, 7, name, role or UserRole.USER) if name == "ada" else None

    async def create_token(self, *_: object, valid_s: float | None, **__: object) -> Row:
        assert valid_s is not None
        self.valid_s = valid_s
        return {"token_id": 3}


async def test_token_that_a_bearer_makes_ends_with_theirs(tmp_path: Path) -> None:
    store = AdmittingStore()
    identities = Identities(cast("ApiStore", store), web_tokens(tmp_path, USUAL))
    headers = {"authorization": f"Bearer {token_of(exp=int(time.time()) + 60)}"}
    caller = await identities.caller_of(headers)
    services = cast("Any", SimpleNamespace(store=store, settings=Settings(home=tmp_path)))
    origin = Origin(digest=b"", trace_id="a" * 32)

    await tokens.create_token(services, caller, TokenDocument(name="mine"), origin)

    assert 0 < store.valid_s <= 90


async def test_issuer_whose_keys_are_away_is_no_reason_to_refuse(tmp_path: Path) -> None:
    text = USUAL + 'jwks_url = "http://127.0.0.1:1/keys"'
    identities = Identities(cast("ApiStore", AdmittingStore()), web_tokens(tmp_path, text, None))

    with pytest.raises(Unavailable, match="cannot be read"):
        await identities.caller_of({"authorization": f"Bearer {token_of()}"})


async def test_bearer_is_remembered_until_the_user_changes_or_the_token_expires(
    tmp_path: Path,
) -> None:
    store = AdmittingStore()
    identities = Identities(cast("ApiStore", store), web_tokens(tmp_path, USUAL))
    headers = {"authorization": f"Bearer {token_of()}"}

    callers = [await identities.caller_of(headers) for _ in range(3)]
    with pytest.raises(Unauthenticated) as refused:
        await identities.caller_of({"authorization": f"Bearer {token_of(sub='eve')}"})

    assert "default has no user 'eve'" in str(refused.value.detail)
    assert {one.user_id for one in callers} == {7}
    assert store.admitted == [("default", "ada"), ("default", "eve")]
    assert store.authenticated == 0
