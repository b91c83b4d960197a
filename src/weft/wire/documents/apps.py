"""The documents about applications: what operators send, and the answers."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.wire.description import END, says

AppName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}" + END)]
JobApp = Annotated[
    AppName | None,
    says(
        "An application that `weft app ls` shows, instead of `command`: its wrapper runs in a "
        "directory of its own that holds the application's files.",
        "wordcount-1.0",
    ),
]
JobParameters = Annotated[
    dict[str, Any] | None,
    says(
        "Values of the application's parameters, which its program finds as variables.",
        {"lines": True},
    ),
]
_Version = Annotated[str, Meta(pattern=r"^3\.[0-9]{1,2}" + END)]
_Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}" + END)]
FolderDigest = Annotated[
    _Digest,
    says(
        "SHA-256 of the packed folder, in hex.",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ),
]


class CodeDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """`code`: a packed folder, whose parts were sent to the batch as a payload before."""

    digest: FolderDigest


JobCode = Annotated[
    CodeDocument | None,
    says(
        "Files that it begins with: they are copied into its directory, and functions import "
        "from them. In job files and the Python client a folder, which is packed and sent."
    ),
]


class RequirementsDocument(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`requirements`: packages of Python, whose names were sent to the batch as a payload."""

    digest: Annotated[_Digest, says("SHA-256 of their text, in hex.", "0" * 64)]
    python: Annotated[
        _Version | None, says("The version of Python; without it that of its worker.", "3.12")
    ] = None


JobRequirements = Annotated[
    RequirementsDocument | None,
    says(
        "Packages that its worker installs before, once for all jobs with the same. In job files "
        "and the Python client a requirements file or a `uv.lock`."
    ),
]
_NAME = Meta(description="name and version, as jobs ask for it")
_BYTES = Meta(ge=1, description="of the packed folder")
_FOR = Meta(description="who alone may run it; null: everybody in the tenant")


class AppDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`PUT /v1/apps/{app}`: the packed folder, whose parts were sent before."""

    digest: FolderDigest
    n_bytes: Annotated[Annotated[int, Meta(ge=1, le=1 << 40)], says("Of the packed folder.", 2048)]
    for_user: Annotated[
        str | None, says("The user who alone may run it; without it all may.", "ann")
    ] = None


class App(Struct, kw_only=True):
    """An application, as lists show it."""

    name: Annotated[str, _NAME]
    title: str
    revision: Annotated[int, Meta(ge=1, description="counts its contents")]
    digest: Annotated[str, Meta(description="SHA-256 of the packed folder")]
    n_bytes: Annotated[int, _BYTES]
    system: Annotated[
        str | None, Meta(description="queue, pool or engine on which it runs; null: anywhere")
    ] = None
    for_user: Annotated[str | None, _FOR]
    added_by: str | None
    added_at: datetime


class AppDetail(App, kw_only=True):
    """An application with what it says of itself."""

    description: Annotated[
        dict[str, Any], Meta(description="wrapper, parameters, inputs and defaults")
    ]


class AppSaved(App, kw_only=True):
    """An application that new jobs get."""

    changed: Annotated[bool, Meta(description="false: it had this content before")]


class AppRemoved(Struct, kw_only=True):
    """An application that no new job gets."""

    name: Annotated[str, _NAME]


class AppPart(Struct, kw_only=True):
    """A part of a packed folder that is kept."""

    part: Annotated[int, Meta(ge=1)]
    n_parts: Annotated[int, Meta(ge=1)]
