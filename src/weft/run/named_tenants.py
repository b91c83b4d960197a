"""Tenants and users that settings name and nobody has made: mistyped, or of another installation.

Nothing is refused for it, because they may be made later; but until then an issuer lets nobody in,
an account is that of no user, what a broker brings is refused, and events go nowhere.
"""

from collections.abc import Sequence
from contextlib import suppress

from weft.api.web_tokens.issuers import read_issuers
from weft.core.access.run_as import HOME, parse_accounts
from weft.settings import Settings
from weft.settings.declare import InvalidSetting
from weft.settings.jobs_apart import are_jobs_apart, find_apart
from weft.settings.transports_file import named_users
from weft.store import open_admin
from weft.telemetry.log import log


async def warn_of_missing_names(admin_dsn: str, settings: Settings) -> None:
    """Log each tenant and user that is named and does not exist."""
    users = _named_users(settings)
    named = _named_tenants(settings) | {("transports_file", tenant) for tenant, _ in users}
    if not named:
        return
    async with open_admin(admin_dsn) as admin:
        missing = set(await admin.missing_tenants(sorted({tenant for _, tenant in named})))
        strangers = [
            (tenant, user)
            for tenant, user in users
            if tenant not in missing and not await admin.has_user(tenant, user)
        ]
    for setting, tenant in sorted(named):
        if tenant in missing:
            log.warning(
                "up.tenant_missing",
                setting=setting,
                tenant=tenant,
                hint="`weft tenant ls` lists those that exist, `weft tenant create` makes one.",
            )
    for tenant, user in strangers:
        log.warning(
            "up.user_missing",
            setting="transports_file",
            tenant=tenant,
            user=user,
            hint="`weft user ls` lists those that exist, `weft user add` adds one.",
        )


async def warn_of_jobs_together(admin_dsn: str, settings: Settings) -> str:
    """Log that nothing keeps the jobs of several users apart; return it as a sentence, or ""."""
    if are_jobs_apart(settings):
        return ""
    async with open_admin(admin_dsn) as admin:
        n_users = await admin.count_submitters()
    finding = find_apart(settings, n_users)
    if finding.verdict == "ok":
        return ""
    log.warning("up.jobs_not_apart", users=n_users, found=finding.found, hint=finding.advice)
    return f"{finding.found}. {finding.advice}"


def _named_tenants(settings: Settings) -> set[tuple[str, str]]:
    """Return each setting with a tenant that it names."""
    accounts = parse_accounts(settings.run_as_accounts) if settings.run_as == "user" else {}
    found = {("run_as_accounts", tenant) for tenant, _ in accounts if tenant != HOME}
    if settings.issuers_file is not None:
        with suppress(InvalidSetting):  # the api says why
            issuers = read_issuers(settings.issuers_file)
            found |= {("issuers_file", issuer.document.tenant) for issuer in issuers}
    return found


def _named_users(settings: Settings) -> Sequence[tuple[str, str]]:
    """Return the users, with their tenants, as whom brokers are served."""
    with suppress(InvalidSetting):  # the roles say why
        return named_users(settings.transports_file)
    return []
