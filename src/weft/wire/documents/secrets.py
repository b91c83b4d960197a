"""The documents about secrets: what a job asks for, what a user sets, and the answers."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import END, says

SecretName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,62}" + END)]
VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,255}" + END)]
FileName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}" + END)]
RegistryName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,254}" + END)]


class SecretUse(Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """A secret that a job gets, as a variable or as a file."""

    name: Annotated[SecretName, says("Of a secret of the user who submits.", "db-password")]
    env: Annotated[
        VariableName | None, says("The variable that holds its value.", "DB_PASSWORD")
    ] = None
    file: Annotated[
        FileName | None,
        says("The file that holds it, in the directory `$WEFT_SECRETS_DIR`.", "key.pem"),
    ] = None
    registry: Annotated[
        RegistryName | None,
        says(
            "The registry that it opens for the image of the job, as `user:password`; the job "
            "itself does not get it.",
            "registry.example:5000",
        ),
    ] = None


JobSecrets = Annotated[
    Annotated[tuple[SecretUse, ...], Meta(max_length=64)] | None,
    says(
        "Secrets that it gets when it starts, each as a variable or as a file.",
        [{"name": "db-password", "env": "DB_PASSWORD"}, {"name": "tls", "file": "key.pem"}],
    ),
]


class SecretDocument(Struct, forbid_unknown_fields=True):
    """`PUT /v1/secrets/{name}`: the value, which no answer shows."""

    value: Annotated[
        Annotated[str, Meta(min_length=1, pattern=r"^[^\x00]+$")],
        says("Text without NUL; encode other data, for example by base64.", "swordfish"),
    ]

    def __repr__(self) -> str:
        """Return a text without the value: tracebacks may show it."""
        return "SecretDocument(...)"


class Secret(Struct, kw_only=True):
    """A secret of the caller, without its value, which nobody can see again."""

    name: str
    created_at: datetime
    updated_at: datetime


class SecretRemoved(Struct, kw_only=True):
    """A secret that no job gets any more."""

    name: str


class SecretsRotated(Struct, kw_only=True):
    """What a rotation did."""

    n_rotated: Annotated[int, Meta(ge=0, description="secrets that are encrypted anew")]
    key: Annotated[str, Meta(description="id of the key that encrypts all of them now")]
