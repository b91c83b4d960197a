"""Which Unix account a user's jobs run under, by the setting `run_as_accounts`."""

import re
from collections.abc import Mapping
from typing import Final

TENANT: Final = "local"
"""The tenant whose users need not be named with it."""
_NUMBERS: Final = re.compile(r"([0-9]{1,10}):([0-9]{1,10})")
_ID_MAX: Final = 2**32 - 2
User = tuple[str, str]
"""Tenant and name."""


def parse_accounts(text: str) -> Mapping[User, str]:
    """Read accounts by user. Raise `ValueError`.

    >>> parse_accounts("ada=ada, bob=20001:20001, acme/eve=eve")
    {('local', 'ada'): 'ada', ('local', 'bob'): '20001:20001', ('acme', 'eve'): 'eve'}
    """
    found: dict[User, str] = {}
    for one in filter(None, map(str.strip, text.split(","))):
        user, equals, account = map(str.strip, one.rpartition("="))
        tenant, slash, name = user.partition("/")
        key = (tenant, name) if slash else (TENANT, user)
        if not (equals and account and all(key)):
            raise ValueError(f"{one!r} is not of the form user=account or tenant/user=account")
        if ":" in account and numbers_of(account) is None:
            raise ValueError(f"{account!r} is neither the name of an account nor uid:gid")
        if key in found:
            raise ValueError(f"{user!r} is named twice")
        found[key] = account
    return found


def account_of(user: User, accounts: Mapping[User, str]) -> str | None:
    """Return the account of a user: the one that the setting names, else the one of the same name
    for users of the installation's own tenant. None: there is none.
    """
    return accounts.get(user) or (user[1] if user[0] == TENANT else None)


def numbers_of(account: str) -> tuple[int, int] | None:
    """Return the numbers of user and group if the account is given by them.

    >>> numbers_of("20001:20001")
    (20001, 20001)
    """
    match = _NUMBERS.fullmatch(account)
    if match is None:
        return None
    uid, gid = int(match[1]), int(match[2])
    return (uid, gid) if max(uid, gid) <= _ID_MAX else None
