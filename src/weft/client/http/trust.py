"""Which servers a client believes to be those that it means."""

import ssl

from weft.client.http.address import LOOPBACK, Endpoint
from weft.settings import InvalidSetting

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def require_tls(endpoint: Endpoint) -> None:
    """Raise `InvalidSetting` for an address at which no worker outside may be served."""
    if endpoint.scheme != "https" and endpoint.host not in LOOPBACK:
        raise InvalidSetting(
            f"cannot connect to {endpoint.url} without TLS",
            detail="The worker's token would be readable on the way.",
            hint="Begin the address with https://; plain HTTP is for this machine only.",
        )


def tls_context(endpoint: Endpoint) -> ssl.SSLContext | None:
    """Return how a connection is secured; None: not at all. Raise `InvalidSetting` for
    certificates that cannot be read.
    """
    if endpoint.scheme != "https":
        return None
    if endpoint.cert_file is not None:
        return _only(endpoint)
    try:
        return ssl.create_default_context(cafile=endpoint.ca_file)
    except OSError as error:
        why = (
            "It has no certificate in PEM." if isinstance(error, ssl.SSLError) else error.strerror
        )
        raise InvalidSetting(
            f"ca_file {endpoint.ca_file} cannot be used",
            detail=f"{why}",
            hint="Name the PEM file of the authority that signed the server's certificate.",
        ) from error


def _only(endpoint: Endpoint) -> ssl.SSLContext:
    """Trust the very certificate of the home's server, and nobody whom its issuer has signed. Its
    names do not count: on this machine the server is reached by an address.
    """
    assert endpoint.cert_file is not None
    try:
        text = endpoint.cert_file.read_text("latin-1")
        first = _BEGIN + text.partition(_BEGIN)[2].partition(_END)[0] + _END
        context = ssl.create_default_context(cadata=first)
    except OSError as error:
        raise InvalidSetting(
            f"the server's certificate {endpoint.cert_file} cannot be read",
            detail=f"{error.strerror or error}.",
            hint="Name the server with WEFT_URL, and whom to trust with WEFT_CA_FILE.",
        ) from error
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context
