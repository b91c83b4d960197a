"""What keeps the jobs of one user from what is another's: nothing, unless the settings say so. All
jobs run as the account of the worker, who in `weft up` owns its home, with the tokens in it. One
person alone risks nothing by that; from the second user on somebody has to say that it is meant.
"""

import os
import pwd
from contextlib import suppress
from typing import Final

from weft.core.access.rights import RIGHTS_OF, Right, UserRole
from weft.core.errors import JobsNotApart
from weft.core.findings import Finding
from weft.core.text.amounts import counted
from weft.settings.settings import Settings

WAYS_OUT: Final = 'set sandbox = "bubblewrap" or run_as = "user"'
SEE: Final = 'docs/security.md, "Jobs of several users", says what each needs.'


def are_jobs_apart(settings: Settings) -> bool:
    """Say whether jobs run in sandboxes or as their users' accounts, or need not."""
    return settings.trusted_users or settings.sandbox != "none" or settings.run_as == "user"


def check_apart(settings: Settings, name: str, role: UserRole) -> None:
    """Raise `JobsNotApart` if jobs of one who is let in could read what is the server's."""
    if are_jobs_apart(settings) or Right.WRITE not in RIGHTS_OF[role]:
        return
    account = _account()
    raise JobsNotApart(
        f"jobs of {name} would run as {account} and could read the tokens of all users",
        detail=f"Jobs of all users run as {account}, who may read secrets.json and client.json of "
        "the server, and files of all other jobs.",
        hint=f"In weft.toml {WAYS_OUT}; or give `--trusted` if {name} may do what {account} may "
        f"(trusted_users = true: all). {SEE}",
    )


def find_apart(settings: Settings, n_users: int) -> Finding:
    """Judge the settings of a site, by the number of its users who may submit jobs."""
    if settings.run_as == "user" or settings.sandbox != "none":
        return Finding("sandbox", "ok", "jobs of users are kept apart")
    if n_users <= 1:
        return Finding("sandbox", "ok", "nobody but one user may have jobs")
    if settings.trusted_users:
        return Finding("sandbox", "ok", "all users are trusted with what the worker may read")
    what = f"jobs of {counted(n_users, 'user')} run as {_account()} and can read secrets.json and "
    advice = f"In weft.toml {WAYS_OUT}, or trusted_users = true if all of them may do that. {SEE}"
    return Finding("sandbox", "warning", f"{what}client.json", advice)


def _account() -> str:
    with suppress(KeyError):
        return pwd.getpwuid(os.geteuid()).pw_name
    return f"uid {os.geteuid()}"
