"""The database and the login of a role process."""

from weft.core.errors import Unavailable
from weft.run.child import is_supervised
from weft.run.dsn import check_dsn
from weft.run.home import Home
from weft.settings import Settings


class NoRoleDatabase(Unavailable):
    """There is neither a DSN nor a home that has one."""

    code = "UP.NO_DATABASE"


def login_dsn(settings: Settings, login: str) -> str:
    """Return the DSN for a login such as `weft_driver`.

    A role of `weft up` has one of its own in the home's secrets. A role that is started alone, on
    another host for instance, takes the setting `database` if it is given.
    """
    if settings.database is not None and not is_supervised():
        return check_dsn(settings.database)
    dsn = Home(settings.home).secrets().get(login)
    if dsn is None:
        raise NoRoleDatabase(
            f"no database is known for {login}",
            detail=f"{settings.home} has no secrets.json, and no setting `database` is given.",
            hint="Start the role with `weft up`, or give it a login with `--database DSN`.",
        )
    return dsn
