"""Decode the bytes of a request into a typed document. Every wrong field is named."""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar, cast

import msgspec

from weft.api.http.moments import settle
from weft.core.bounded import (
    HalfCharacter,
    TooManyValues,
    Unreadable,
    bounded,
    count_json,
    count_msgpack,
    read_json,
    read_msgpack,
)
from weft.core.errors import (
    FieldError,
    InvalidDocument,
    MalformedBody,
    NulCharacter,
    TooLarge,
    UnsupportedMedia,
    WrongType,
)
from weft.core.problems import Problems, pointer_of, pointers_of
from weft.wire.documents.jobs import JobDocument
from weft.wire.mistakes import check_types, mistake_of
from weft.wire.usual_jobs import USUAL_KINDS

JSON: Final = "application/json"
MSGPACK: Final = "application/msgpack"
MERGE_PATCH: Final = "application/merge-patch+json"
Document = TypeVar("Document", bound=msgspec.Struct)
Kind = Any  # an annotation: a class, a union, a generic; typing has no type for all of them
_HALF: Final = re.compile("[\ud800-\udfff]")
_SEARCHED_BYTES_MAX: Final = 1 << 18
"""To search a longer body for its mistake would hold up others for more than a few hundredths of a
second.
"""
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
    """Decode a document. Raise `TooLarge` for one of very many values, `MalformedBody`, or
    `InvalidDocument` with every field that has a wrong name or type.
    """
    try:
        (count_json if media == JSON else count_msgpack)(body)
    except TooManyValues as error:
        raise TooLarge(
            "the body has too many values",
            detail=f"{error}.".capitalize(),
            hint="Create an update and send bunches; large data belongs in files.",
        ) from error
    read, usual = partial(_reader(media), is_counted=True), USUAL_KINDS.get(kind)
    if usual is not None:
        with suppress(msgspec.DecodeError, InvalidDocument):
            return _with_resources(cast("Document", read(body, usual, depth_max=None)), media)
    try:
        document = cast("Document", read(body, kind))
    except msgspec.ValidationError as error:
        raise _explain(body, media, kind, error) from error
    except Unreadable as error:
        raise _malformed(body, media, error) from error
    settle(document)
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


def _malformed(body: bytes, media: str, error: Exception) -> MalformedBody:
    form, why = "JSON" if media == JSON else "msgpack", str(error)
    detail, errors = f"{why[:1].upper()}{why[1:]}.", list[FieldError]()
    if isinstance(error, HalfCharacter) and (pointer := _half_character_in(body)) is not None:
        detail, errors = f"{pointer or 'the document'}: {why}.", [FieldError(pointer, why)]
    return MalformedBody(f"the body is not {form}", detail=detail, hint=_HINT, errors=errors)


def _half_character_in(body: bytes) -> str | None:
    """Return the pointer of a text with half a character; None: the body is too long to search
    it, or has another mistake.
    """
    if len(body) > _SEARCHED_BYTES_MAX:
        return None
    try:
        # msgspec refuses such a text without saying where it is.
        document = bounded(lambda: json.loads(body))
    except ValueError:
        return None
    pointer = next(pointers_of(document, lambda text: bool(_HALF.search(text))), None)
    return pointer and pointer.encode("utf-8", "backslashreplace").decode()


def name_nul(error: NulCharacter, document: object) -> NulCharacter:
    """Return the error with the fields that hold NUL, if it names none: the database does not say
    which value it cannot store.
    """
    if error.errors:
        return error
    problems = Problems()
    for pointer in pointers_of(msgspec.to_builtins(document), lambda text: "\0" in text):
        problems.add(NulCharacter, pointer, "a text cannot contain NUL")
    return cast("NulCharacter", problems.error()) if problems.found else error


def _explain(body: bytes, media: str, kind: Kind, first: Exception) -> Exception:
    """Return the error that names all wrong fields. Only a refused body is decoded twice."""
    problems = Problems()
    try:
        value = _reader(media)(body, is_counted=True)
    except Unreadable as error:
        if not isinstance(error.__cause__, msgspec.ValidationError):
            return _malformed(body, media, error)
    else:
        check_types(value, kind, "", problems)
    if not problems.found:  # e.g. a number that only the typed decoder refuses
        problems.add(WrongType, *mistake_of(str(first)))
    return problems.error()
