"""Which Unix account a user's jobs run under, by the setting `run_as_accounts`."""

import re
import string
from collections.abc import Mapping
from typing import Final

HOME: Final = ""
"""Stands for the installation's own tenant, whose users need not be named with it. It is called
`default` or `local`.
"""
_NUMBERS: Final = re.compile(r"([0-9]{1,10}):([0-9]{1,10})")
_ID_MAX: Final = 2**32 - 2
# Of ASCII alone: which other letters are the same depends on the database.
_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
User = tuple[str, str]
"""Tenant and name."""


class NamedTwice(ValueError):
    """A user has two accounts: with and without the name of the tenant."""


def parse_accounts(text: str) -> Mapping[User, str]:
    """Read accounts by user, whose names are in lower case. Raise `ValueError`.

    >>> parse_accounts("ada=ada, bob=20001:20001, Acme/Eve=eve")
    {('', 'ada'): 'ada', ('', 'bob'): '20001:20001', ('acme', 'eve'): 'eve'}
    """
    found: dict[User, str] = {}
    for one in filter(None, map(str.strip, text.split(","))):
        user, equals, account = map(str.strip, one.rpartition("="))
        tenant, slash, name = user.partition("/")
        key = _lower((tenant, name) if slash else (HOME, user))
        if not (equals and account and key[1] and (key[0] or not slash)):
            raise ValueError(f"{one!r} is not of the form user=account or tenant/user=account")
        if ":" in account and numbers_of(account) is None:
            raise ValueError(f"{account!r} is neither the name of an account nor uid:gid")
        if key in found:
            raise ValueError(f"{user!r} is named twice")
        found[key] = account
    return found


def account_of(
    user: User, accounts: Mapping[User, str], home_tenant: str
) -> str | tuple[int, int] | None:
    """Return the account of a user: the name or numbers that the setting gives, else that of the
    same name for users of the installation's own tenant. None: there is none. Raise `NamedTwice`.

    >>> account_of(("default", "1000:6"), {}, "default")
    '1000:6'
    """
    tenant, name = _lower(user)
    is_home = tenant == home_tenant.translate(_LOWER)
    given = [accounts.get((tenant, name)), accounts.get((HOME, name)) if is_home else None]
    found = [one for one in given if one is not None]
    if len(found) > 1:
        raise NamedTwice
    if found:
        return numbers_of(found[0]) or found[0]
    # A user may be called as numbers are written: only the setting gives numbers.
    return user[1] if is_home else None


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


def _lower(user: User) -> User:
    tenant, name = user
    return tenant.translate(_LOWER), name.translate(_LOWER)
