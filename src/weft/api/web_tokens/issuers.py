"""The file that names the issuers whose tokens are believed (setting `issuers_file`)."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from weft.api.web_tokens import wso2
from weft.api.web_tokens.fetching import is_safe_url
from weft.api.web_tokens.issuer_document import IssuerDocument
from weft.core.access.rights import UserRole
from weft.core.bounded import Unreadable, read_toml
from weft.settings.declare import InvalidSetting

_HINT: Final = "docs/guides/tenants.md has an example of such a file."


class _IssuersFile(Struct, forbid_unknown_fields=True):
    issuers: list[IssuerDocument]


@dataclass(frozen=True)
class Issuer:
    """An issuer of the file, checked."""

    document: IssuerDocument
    folder: Path
    """Where relative paths of the entry begin."""
    client_secret: str | None = field(default=None, repr=False)


def read_issuers(path: Path) -> Sequence[Issuer]:
    """Return the issuers of the file. Raise `InvalidSetting`, which names the entry and field."""
    try:
        document = msgspec.convert(read_toml(path.read_text()), _IssuersFile)
    except OSError as error:
        raise _wrong(path, error.strerror or str(error)) from error
    except (Unreadable, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise _wrong(path, str(error)) from error
    for n, one in enumerate(document.issuers):
        if wrong := _mistake(one):
            raise _wrong(path, f"{wrong} - at `$.issuers[{n}]`")
    found = [(one.issuer, one.audience or wso2.canonical(one.header)) for one in document.issuers]
    for n, pair in enumerate(found):
        if pair in found[:n]:
            what = "audience" if document.issuers[n].audience else "header"
            why = f"issuer and {what} are those of another entry"
            raise _wrong(path, f"{why} - at `$.issuers[{n}]`")
    return [
        Issuer(
            wso2.completed(one) if one.form == "wso2" else one, path.parent, _secret_of(one, path)
        )
        for one in document.issuers
    ]


def _mistake(document: IssuerDocument) -> str | None:
    if document.form == "wso2":
        return wso2.mistake_of(document) or _key_mistake(document)
    if document.audience is None:
        return "`audience` is required"
    return _key_mistake(document) or _claims_mistake(document) or _login_mistake(document)


def _key_mistake(one: IssuerDocument) -> str | None:
    """Return what is wrong with where its keys are."""
    if sum(source is not None for source in (one.pem, one.jwks_file, one.jwks_url)) != 1:
        return "exactly one of `pem`, `jwks_file` and `jwks_url` is required"
    if one.jwks_url is not None and not is_safe_url(one.jwks_url):
        return "`jwks_url` begins with https://, or with http:// on this machine"
    if one.keys_old_s < one.keys_fresh_s:
        return "`keys_old_s` is less than `keys_fresh_s`"
    return None


def _claims_mistake(document: IssuerDocument) -> str | None:
    """Return what is wrong with what is read from its claims."""
    if bool(document.roles) != (document.role_claim is not None):
        return "`roles` and `role_claim` go together"
    if UserRole.WORKER in document.roles.values():
        return "the role `worker` is none of a person"
    return None


def _login_mistake(one: IssuerDocument) -> str | None:
    """Return what is wrong with how people log in."""
    secrets = [one.client_secret_file, one.client_secret_env]
    if one.client_id is None:
        return "a client secret needs a `client_id`" if any(secrets) else None
    if all(secrets):
        return "only one of `client_secret_file` and `client_secret_env` is possible"
    if not is_safe_url(one.issuer):
        return "people log in at an `issuer` that begins with https://, or http:// on this machine"
    if "openid" not in one.scopes:
        return "`scopes` lack `openid`"
    if any(not scope.isascii() or not scope.isprintable() or " " in scope for scope in one.scopes):
        return "a scope is a word of ASCII"
    return None


def _secret_of(document: IssuerDocument, path: Path) -> str | None:
    """Return the secret of the client. Raise `InvalidSetting` if it cannot be read."""
    if document.client_secret_env is not None:
        secret = os.environ.get(document.client_secret_env, "")
        source = f"variable {document.client_secret_env}"
    elif document.client_secret_file is not None:
        source = str(path.parent / document.client_secret_file)
        try:
            secret = (path.parent / document.client_secret_file).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise _wrong(path, f"the client secret in {source} cannot be read") from error
    else:
        return None
    secret = secret.strip()
    if not secret or not (secret.isascii() and secret.isprintable()):
        raise _wrong(path, f"the client secret in {source} is empty or malformed")
    return secret


def _wrong(path: Path, why: str) -> InvalidSetting:
    return InvalidSetting(f"issuers_file {path} cannot be used: {why}", hint=_HINT)
