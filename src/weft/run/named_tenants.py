"""Tenants that settings name and nobody has made: a mistyped name, or one of another installation.

Nothing is refused for it, because a tenant may be made later; but until then an issuer lets nobody
in, and an account is that of no user.
"""

from collections.abc import Sequence
from contextlib import suppress

from weft.api.web_tokens.issuers import read_issuers
from weft.core.access.run_as import HOME, parse_accounts
from weft.settings import Settings
from weft.settings.declare import InvalidSetting
from weft.store import open_admin
from weft.telemetry.log import get_logger

log = get_logger()


async def warn_of_missing_tenants(admin_dsn: str, settings: Settings) -> None:
    """Log each tenant that is named and does not exist."""
    named = _named_tenants(settings)
    if not named:
        return
    async with open_admin(admin_dsn) as admin:
        missing = await admin.missing_tenants(sorted({tenant for _, tenant in named}))
    for setting, tenant in named:
        if tenant in missing:
            log.warning(
                "up.tenant_missing", setting=setting, tenant=tenant,
                hint="`weft tenant ls` lists those that exist, `weft tenant create` makes one.",
            )  # fmt: skip


def _named_tenants(settings: Settings) -> Sequence[tuple[str, str]]:
    """Return each setting with a tenant that it names."""
    accounts = parse_accounts(settings.run_as_accounts) if settings.run_as == "user" else {}
    found = {("run_as_accounts", tenant) for tenant, _ in accounts if tenant != HOME}
    if settings.issuers_file is not None:
        with suppress(InvalidSetting):  # the api says why
            issuers = read_issuers(settings.issuers_file)
            found |= {("issuers_file", one.document.tenant) for one in issuers}
    return sorted(found)
