"""The documents about file stores, with their answers."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.description import says
from weft.wire.documents.secrets import SecretName

Access = Literal["read", "write"]
Credentials = Literal["secret", "env", "instance-role"]
_URL = Meta(description="its bucket, and the beginning of all keys in it")
_ENDPOINT = Meta(description="the server; null: that of AWS")
_READY = Meta(description="false: the secret that it names was removed")


class FileStoreDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`PUT /v1/stores/{store}`: where objects are, and what opens them."""

    url: Annotated[
        Annotated[str, Meta(max_length=1100)],
        says("The bucket, and the beginning of all keys in it.", "s3://results/lab-7"),
    ]
    access: Annotated[Access, says("`write`: jobs leave files there, too.")]
    credentials: Annotated[
        Credentials,
        says(
            "What opens it: a secret, the environment of the worker, or the role of its machine; "
            "the last two where the setting `store_buckets` allows the bucket."
        ),
    ] = "secret"
    secret: Annotated[
        SecretName | None,
        says(
            "The name of a secret of who sets the store; its value is `KEY_ID:SECRET_KEY`, or "
            "`KEY_ID:SECRET_KEY:SESSION_TOKEN`.",
            "results-key",
        ),
    ] = None
    endpoint: Annotated[
        Annotated[str, Meta(max_length=2048)] | None,
        says("The server, if it is not that of AWS.", "https://minio.example.org:9000"),
    ] = None
    region: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        says("The region of the bucket; without it us-east-1.", "eu-central-1"),
    ] = None


class NewFileStore(Struct, frozen=True, kw_only=True):
    """A store of objects, as it is set."""

    name: str
    url: Annotated[str, _URL]
    endpoint: Annotated[str | None, _ENDPOINT]
    region: str | None
    access: Access
    credentials: Credentials
    secret: Annotated[str | None, Meta(description="the name of a secret of who set the store")]


class FileStoreAnswer(NewFileStore, frozen=True, kw_only=True):
    """A store of objects, which shows no credential."""

    is_ready: Annotated[bool, _READY]
    set_by: str | None
    set_at: datetime


class FileStoreStep(Struct, kw_only=True):
    """One thing that was tried."""

    step: Literal["write", "read", "remove"]
    problem: Annotated[str | None, Meta(description="null: it worked")]
    hint: Annotated[str | None, Meta(description="what may help")]


class FileStoreTried(Struct, kw_only=True):
    """What works of a store; nothing is tried after a write that failed."""

    name: str
    url: Annotated[str, _URL]
    access: Access
    works: bool
    steps: list[FileStoreStep]


class FileStoreRemoved(Struct, kw_only=True):
    """A store that no job can name any more."""

    name: str
