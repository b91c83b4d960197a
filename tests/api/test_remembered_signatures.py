"""Signatures of JSON web tokens are checked once; everything else acts as if each time."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from api.fakes import RecordingStore
from api.hail_door import API, Hail, batch, job
from api.live import LiveWorker, add
from api.test_web_tokens import EC, ED, ISSUER, OTHER, RSA, USUAL, key_set, pem_of, token_of
from weft.api.http.identity import REMEMBER_S, Identities
from weft.api.services import Services
from weft.api.web_tokens.bearers import IssuerAway, TokenRefused
from weft.api.web_tokens.issuers import read_issuers
from weft.api.web_tokens.key_sets import Key, KnownKey
from weft.api.web_tokens.keys import SourceKeys
from weft.api.web_tokens.verify import REMEMBER_MAX, Signatures, WebTokens, is_signed
from weft.core.access.rights import UserRole
from weft.core.errors import Unauthenticated
from weft.core.states import Reason
from weft.ports.store import Caller
from weft.run.doors import api_doors
from weft.settings import Settings
from weft.store import ApiStore


class Counted:
    """Checks signatures, and counts."""

    def __init__(self) -> None:
        self.checks = 0

    def __call__(self, token: str, keys: Sequence[KnownKey], algorithm: str) -> bool:
        self.checks += 1
        return is_signed(token, keys, algorithm)


class Site:
    """An api with one issuer, whose keys are at an address, and the clock of both."""

    def __init__(self, folder: Path, remember_max: int = REMEMBER_MAX) -> None:
        self.counted = Counted()
        self.signatures = Signatures(remember_max, self.counted)
        self.now = time.time()
        self.keys: Callable[[], bytes] = lambda: key_set(a=EC)
        self.folder = folder
        self.configure()

    def configure(self, entry: str = "") -> None:
        """Start the api again, with its memory, which a real one would lose."""
        path = self.folder / "issuers.toml"
        path.write_text(f'{USUAL}\njwks_url = "https://keys.example.org/"\n{entry}')
        source = SourceKeys("keys", self.read, 60, 600, lambda: self.now)
        self.tokens = WebTokens(
            read_issuers(path), lambda: self.now, lambda _: source, self.signatures
        )

    def read(self) -> bytes:
        """Return what is at the address of the keys now."""
        return self.keys()

    async def refusal_of(self, token: str) -> str:
        with pytest.raises(TokenRefused) as refused:
            await self.tokens.verify(token)
        return str(refused.value)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def away() -> bytes:
    raise OSError("away")


@pytest.mark.parametrize(
    ("key", "alg"), [(RSA, "RS256"), (EC, "ES256"), (ED, "EdDSA")], ids=["RSA", "EC", "Ed25519"]
)
async def test_signature_is_checked_once(site: Site, key: Key, alg: str) -> None:
    """Also when its key was read again."""
    site.keys = lambda: key_set(a=key)
    token = token_of(key, alg, head={"kid": "a"})
    first = await site.tokens.verify(token)
    site.now += 61
    again = await site.tokens.verify(token)
    other = await site.tokens.verify(token_of(key, alg, head={"kid": "a"}, sub="eve"))

    assert again == first
    assert other.user_name == "eve"
    assert site.counted.checks == 2


async def test_part_of_a_good_token_is_no_good_token(site: Site) -> None:
    good, other = token_of(), token_of(sub="eve")
    for token in (good, other):
        await site.tokens.verify(token)
    head, claims, signature = good.split(".")
    _, claims_of_eve, signature_of_eve = other.split(".")

    for forged in (
        f"{head}.{claims}.",
        f"{head}.{claims}.{signature_of_eve}",
        f"{head}.{claims_of_eve}.{signature}",
    ):
        assert "signature" in await site.refusal_of(forged)


async def test_exchanged_key_of_the_same_id_checks_again(site: Site) -> None:
    token = token_of(head={"kid": "a"})
    await site.tokens.verify(token)
    site.now, site.keys = site.now + 61, lambda: key_set(a=OTHER)
    refused = await site.refusal_of(token)
    theirs = await site.tokens.verify(token_of(OTHER, head={"kid": "a"}))

    assert "signature" in refused
    assert theirs.user_name == "ada"


async def test_removed_key_counts_no_more(site: Site) -> None:
    token = token_of(head={"kid": "a"})
    await site.tokens.verify(token)
    site.now, site.keys = site.now + 61, lambda: key_set(b=EC)

    assert "No key of its issuer" in await site.refusal_of(token)


async def test_key_that_cannot_be_read_again_counts_for_a_while(site: Site) -> None:
    token = token_of(exp=int(site.now) + 3600)
    await site.tokens.verify(token)
    site.now, site.keys = site.now + 590, away
    await site.tokens.verify(token)
    site.now += 11
    with pytest.raises(IssuerAway):
        await site.tokens.verify(token)


async def test_dates_are_compared_with_each_request(site: Site) -> None:
    begins = int(site.now) + 100
    token = token_of(nbf=begins, exp=begins + 100)
    early = await site.refusal_of(token)
    site.now = begins
    bearer = await site.tokens.verify(token)
    site.now = begins + 131
    late = await site.refusal_of(token)
    site.now = begins - 31

    assert early == await site.refusal_of(token) == "It is not valid yet."
    assert late == "It has expired."
    assert bearer.expires_at == begins + 130
    assert site.counted.checks == 1


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('algorithms = ["RS256"]', "algorithm is not one"),
        ("required = { staff = true }", "claim `staff`"),
        ('user_claim = "email"', "names no user"),
    ],
)
async def test_changed_entry_counts_at_once(site: Site, entry: str, why: str) -> None:
    token = token_of()
    await site.tokens.verify(token)
    site.configure(entry)

    assert why in await site.refusal_of(token)


async def test_key_of_another_tenant_is_none_of_ours(tmp_path: Path) -> None:
    """Even if it has signed a token that another entry accepts."""
    entry = USUAL.replace('"default"', '"physics"')
    path, signatures, token = tmp_path / "i.toml", Signatures(), token_of()
    refused = []
    for tenant, key in ((USUAL, EC), (entry, OTHER)):
        path.write_text(f'{tenant}\npem = """{pem_of(key)}"""')
        tokens = WebTokens(read_issuers(path), signatures=signatures)
        try:
            refused.append((await tokens.verify(token)).tenant)
        except TokenRefused as error:
            refused.append(str(error))

    assert refused == ["default", "Its signature or its header is wrong."]


async def test_refusals_are_not_remembered(site: Site) -> None:
    forged = token_of(OTHER, head={"kid": "a"})
    for _ in range(3):
        await site.refusal_of(forged)
    assert (site.counted.checks, len(site.signatures)) == (3, 0)

    site.now, site.keys = site.now + 61, lambda: key_set(a=OTHER)
    assert (await site.tokens.verify(forged)).user_name == "ada"


async def test_those_used_last_are_remembered(tmp_path: Path) -> None:
    site = Site(tmp_path, remember_max=3)
    tokens = [token_of(jti=str(number)) for number in range(5)]
    for token in tokens:
        await site.tokens.verify(token)
        await site.tokens.verify(tokens[0])
    remembered = len(site.signatures)
    before = site.counted.checks
    for token in (tokens[0], tokens[4], tokens[3], tokens[1]):
        await site.tokens.verify(token)

    assert remembered == 3
    assert (before, site.counted.checks) == (5, 6)


async def test_nothing_of_a_token_is_kept(site: Site) -> None:
    token = token_of()
    await site.tokens.verify(token)
    kept = repr(vars(site.signatures))

    assert len(site.signatures) == 1
    assert not any(part in kept for part in token.split("."))
    assert "ada" not in kept


async def test_tokens_of_logins_are_used_once(site: Site) -> None:
    site.configure('client_id = "weft"')
    (issuer,) = read_issuers(site.folder / "issuers.toml")
    tokens = WebTokens(
        [issuer], keys_of=lambda _: SourceKeys("", site.keys, 60, 600), signatures=site.signatures
    )

    bearer = await tokens.verify_login(token_of(), issuer.document, None)
    with pytest.raises(TokenRefused, match="signature"):
        await tokens.verify_login(token_of(OTHER), issuer.document, None)

    assert (bearer.user_name, issuer.document.issuer) == ("ada", ISSUER)
    assert len(site.signatures) == 0


class Members(RecordingStore):
    """Knows the users of a tenant."""

    def __init__(self) -> None:
        super().__init__()
        self.names = {"ada"}

    async def admit_user(
        self, tenant: str, name: str, role: UserRole | None, *, may_create: bool
    ) -> Caller | None:
        del tenant, may_create
        return Caller(1, 7, name, role or UserRole.USER) if name in self.names else None


async def test_removed_user_is_out_whatever_is_remembered(site: Site) -> None:
    store, at = Members(), 0.0
    identities = Identities(cast("ApiStore", store), site.tokens, clock=lambda: at)
    headers = {"authorization": f"Bearer {token_of()}"}
    await identities.caller_of(headers)
    store.names.clear()
    at += REMEMBER_S + 1
    with pytest.raises(Unauthenticated):
        await identities.caller_of(headers)

    assert site.counted.checks == 1


TENANTS = [Caller(tenant, tenant, "ada") for tenant in (1, 2, 3)]


@pytest.fixture
def store() -> RecordingStore:
    return RecordingStore()


@pytest.fixture
def services(store: RecordingStore, tmp_path: Path) -> Services:
    return Services(
        store=store,
        logs=None,  # type: ignore[arg-type]  # not asked
        settings=Settings(home=tmp_path),
        feeds=None,  # type: ignore[arg-type]  # not asked
    )


async def test_workers_are_read_once_for_all_tenants(
    services: Services, store: RecordingStore
) -> None:
    found = [await services.workers(caller) for caller in TENANTS]

    assert [[{**one, "serves_tenant_id": None} for one in store.workers]] * 3 == found
    assert store.workers_asked == 1


LIVE_DOORS = api_doors()


async def test_what_is_remembered_of_a_batch_is_for_those_who_see_it(hail: Hail) -> None:
    """The names in lists of jobs, and the numbers of an open update."""
    made = await hail.ask("POST", "/batches/create", batch("t", n_jobs=2))
    b = made["id"]
    bob = await add(hail.http, "bob")
    await hail.http.request("DELETE", "/v1/billing-projects/default/members/bob")
    jobs, update = f"/batches/{b}/jobs", f"/batches/{b}/updates/1"
    await hail.ask("POST", f"{update}/jobs/create", [job(1, "true")])
    foreign = await hail.http.post(
        f"{API}{update}/jobs/create", json=[job(2, "true")], headers=bob
    )
    await hail.ask("POST", f"{update}/jobs/create", [job(2, "true")])
    await hail.ask("PATCH", f"{update}/commit")
    listed = await hail.ask("GET", jobs)
    hidden = [
        (await hail.http.get(f"{API}{path}", headers=bob)).status_code
        for path in (jobs, f"{jobs}/1", f"/batches/{b}/job-groups/0/jobs?q=success")
    ]
    late = await hail.refused("POST", f"{update}/jobs/create", [job(2, "true")])
    another = await hail.ask("POST", f"/batches/{b}/updates/create", {"token": "u", "n_jobs": 1})
    path = f"/batches/{b}/updates/{another['update_id']}/jobs/create"
    await hail.ask("POST", path, [])
    await hail.ask("DELETE", f"/batches/{b}")
    gone = [await hail.refused("POST", path, [job(1, "x")]), await hail.refused("GET", jobs)]

    assert (foreign.status_code, hidden) == (404, [404] * 3)
    assert [one["user"] for one in listed["jobs"]] == ["tester"] * 2
    assert late == (400, "update 1 is already committed")
    assert [status for status, _ in gone] == [404, 404]


async def test_log_comes_with_a_warning_that_the_image_is_a_label(
    hail: Hail, worker: LiveWorker
) -> None:
    """What the job wrote is never changed."""
    odd = {"type": "docker", "image": "a\nb\u2028", "command": ["true"]}
    b = await hail.submit("t", job(1, "false"), job(2, "true", process=odd))
    for reason in (Reason.EXIT, None):
        (claimed,) = await worker.claim_and_start(1)
        worker.write(claimed, (1, b"out\n"))
        await worker.end([claimed], output=(4, 0), reason=reason)
    failed, good, raw = [
        await hail.http.get(f"{API}/batches/{b}/jobs/{path}")
        for path in ("1/log", "2/log", "1/log/main")
    ]
    warnings = [one.headers["x-hail-deprecated"] for one in (failed, good, raw)]

    assert failed.json() == good.json() == {"main": "out\n"}
    assert raw.content == b"out\n"
    assert [one.partition(" is only a label here")[0] for one in warnings] == [
        "image 'ubuntu:24.04'",
        r"image 'a\nb\u2028'",
        "image 'ubuntu:24.04'",
    ]
