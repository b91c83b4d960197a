"""Decode the bytes of a request into a typed document; every wrong field is named."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar, cast

import msgspec

from weft.core.bounded import Unreadable, read_json, read_msgpack
from weft.core.errors import InvalidDocument, MalformedBody, UnsupportedMedia, WrongType
from weft.core.problems import Problems, pointer_of
from weft.wire.documents.batches import JobDocument
from weft.wire.mistakes import check_types, mistake_of
from weft.wire.usual_jobs import USUAL_KINDS

JSON: Final = "application/json"
MSGPACK: Final = "application/msgpack"
MERGE_PATCH: Final = "application/merge-patch+json"
Document = TypeVar("Document", bound=msgspec.Struct)
Kind = Any  # an annotation: a class, a union, a generic; typing has no type for all of them
_HINT: Final = (
    "Send one document as application/json (UTF-8, no byte order mark) or application/msgpack."
)


def media_of(content_type: str | None, *, is_patch: bool = False) -> str:
    """Return the media type of a body, JSON if the header is missing. Raise `UnsupportedMedia`.

    `is_patch`: accept the name that RFC 7396 gives to JSON, too.
    """
    media = (content_type or JSON).partition(";")[0].strip().lower()
    if media in {JSON, MSGPACK}:
        return media
    if is_patch and media == MERGE_PATCH:
        return JSON
    raise UnsupportedMedia(
        f"bodies of type {media[:80]!r} are not supported",
        detail="The Content-Type header names this type.",
        hint=_HINT,
    )


def decode(body: bytes, media: str, kind: type[Document]) -> Document:
    """Decode a document. Raise `MalformedBody`, or `InvalidDocument` with every field that has a
    wrong name or type.
    """
    read, usual = _reader(media), USUAL_KINDS.get(kind)
    if usual is not None:
        with suppress(msgspec.DecodeError, InvalidDocument):
            return _with_resources(cast("Document", read(body, usual, depth_max=None)), media)
    try:
        document = cast("Document", read(body, kind))
    except msgspec.ValidationError as error:
        raise _explain(body, media, kind, error) from error
    except Unreadable as error:
        raise _malformed(media, error) from error
    return document if usual is None else _with_resources(document, media)


def _with_resources(document: Document, media: str) -> Document:
    """Decode what the jobs ask for, which the typed decoder leaves raw: once for all that ask for
    the same in the same words, which then share it.
    """
    jobs: Sequence[JobDocument] = cast("Any", document).jobs
    read = _reader(media)
    decoded: dict[bytes, object] = {}
    problems = Problems()
    for index, job in enumerate(jobs):
        if job.resources is not None:
            raw = bytes(job.resources)
            try:
                if raw not in decoded:
                    decoded[raw] = read(raw)
                job.resources = decoded[raw]
            except msgspec.DecodeError:
                pointer = pointer_of("jobs", index, "resources")
                problems.add(WrongType, pointer, "it cannot be decoded")
    problems.raise_any()
    return document


def _reader(media: str) -> Callable[..., Any]:
    return read_json if media == JSON else read_msgpack


def _malformed(media: str, error: Exception) -> MalformedBody:
    form, why = "JSON" if media == JSON else "msgpack", str(error)
    return MalformedBody(
        f"the body is not {form}", detail=f"{why[:1].upper()}{why[1:]}.", hint=_HINT
    )


def _explain(body: bytes, media: str, kind: Kind, first: Exception) -> Exception:
    """Return the error that names all wrong fields. Only a refused body is decoded twice."""
    problems = Problems()
    try:
        value = _reader(media)(body)
    except Unreadable as error:
        if not isinstance(error.__cause__, msgspec.ValidationError):
            return _malformed(media, error)
    else:
        check_types(value, kind, "", problems)
    if not problems.found:  # e.g. a number that only the typed decoder refuses
        problems.add(WrongType, *mistake_of(str(first)))
    return problems.error()
