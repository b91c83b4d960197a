"""The address of an api, as clients on its machine dial it."""

from weft.settings import Settings


def api_url(settings: Settings, port: int) -> str:
    """Return the address, also if the api listens on all of this machine's."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (they are replaced)
    host = everywhere.get(settings.host, settings.host)
    scheme = "http" if settings.tls_cert_file is None else "https"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
