"""Decode the bytes of a request into a typed document; every wrong field is named."""

from collections.abc import Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Any, Final, TypeVar, cast, get_args, get_origin

import msgspec

from weft.core.errors import MalformedBody, UnknownField, UnsupportedMedia, WrongType
from weft.core.problems import Problems, pointer_of
from weft.wire.documents import BatchDocument, JobBunch, JobDocument, UpdateDocument
from weft.wire.mistakes import mistake_of, said, word_of
from weft.wire.synonyms import nearest_field

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
    try:
        document = cast("Document", _typed_decoder(kind, media).decode(body))
    except msgspec.ValidationError as error:
        raise _explain(body, media, kind, error) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _malformed(media, error) from error
    if isinstance(document, BatchDocument | UpdateDocument | JobBunch):
        _decode_resources(document.jobs, media)
    return document


def _decode_resources(jobs: Sequence[JobDocument], media: str) -> None:
    """Decode what these jobs ask for, which the typed decoder leaves raw: once for all that ask
    for the same in the same words, which then share it.
    """
    decoder = msgspec.json if media == JSON else msgspec.msgpack
    decoded: dict[bytes, object] = {}
    problems = Problems()
    for index, job in enumerate(jobs):
        if job.resources is not None:
            raw = bytes(job.resources)
            try:
                if raw not in decoded:
                    decoded[raw] = decoder.decode(raw)
                job.resources = decoded[raw]
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pointer = pointer_of("jobs", index, "resources")
                problems.add(WrongType, pointer, "it cannot be decoded")
    problems.raise_any()


def may_hold_nul(body: bytes, media: str) -> bool:
    """Say whether a text in this body may hold a NUL; JSON can only write it as an escape."""
    return (b"\\u0000" if media == JSON else b"\0") in body


@cache
def _typed_decoder(kind: type[Document], media: str) -> Any:  # noqa: ANN401 (the two decoders share no base)
    return msgspec.json.Decoder(kind) if media == JSON else msgspec.msgpack.Decoder(kind)


def _malformed(media: str, error: Exception) -> MalformedBody:
    form = "JSON" if media == JSON else "msgpack"
    if isinstance(error, RecursionError):
        why = "it is nested too deeply"
    elif isinstance(error, UnicodeDecodeError):
        why = f"it is not UTF-8: byte 0x{error.object[error.start]:02x}"
    else:
        why = str(error)
    return MalformedBody(
        f"the body is not {form}", detail=f"{why[:1].upper()}{why[1:]}.", hint=_HINT
    )


def _explain(body: bytes, media: str, kind: Kind, first: Exception) -> Exception:
    """Return the error that names all wrong fields. Only a refused body is decoded twice."""
    problems = Problems()
    try:
        value = (msgspec.json if media == JSON else msgspec.msgpack).decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if not isinstance(error, msgspec.ValidationError):
            return _malformed(media, error)
    else:
        _check(value, kind, "", problems)
    if not problems.found:  # e.g. a number that only the typed decoder refuses
        problems.add(WrongType, *mistake_of(str(first)))
    return problems.error()


def _check(value: object, kind: Kind, pointer: str, problems: Problems) -> None:
    """Note each part of a value that has a wrong type."""
    if problems.is_full:
        return
    bare = _without_none(kind)
    if value is None and type(None) in get_args(_undescribed(kind)):
        return
    container: object = get_origin(bare)
    if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
        _check_struct(value, bare, pointer, problems)
    elif (container is list or container is tuple) and isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, get_args(bare)[0], pointer + pointer_of(index), problems)
    elif container is dict and isinstance(value, dict):
        for key, item in value.items():
            _check(key, get_args(bare)[0], pointer + pointer_of(str(key)), problems)
            _check(item, get_args(bare)[1], pointer + pointer_of(str(key)), problems)
    elif bare is not msgspec.Raw:
        try:
            msgspec.convert(value, kind)
        except (msgspec.ValidationError, RecursionError) as error:
            problems.add(WrongType, pointer, said(str(error)))


def _check_struct(
    value: object, kind: type[msgspec.Struct], pointer: str, problems: Problems
) -> None:
    if not isinstance(value, Mapping):
        problems.add(WrongType, pointer, f"expected a mapping, got {word_of(value)}")
        return
    known = _fields(kind)
    for key in value:
        if key not in known:
            near = nearest_field(str(key), known)
            hint = f"; did you mean {near}?" if near else ""
            problems.add(UnknownField, pointer + pointer_of(str(key)), f"no such field{hint}")
    for name, field in known.items():
        if name in value:
            _check(value[name], field.type, pointer + pointer_of(name), problems)
        elif field.required:
            problems.add(WrongType, pointer + pointer_of(name), "this field is required")


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _without_none(kind: Kind) -> Kind:
    """Return X for `X | None` and `X | None | UnsetType`, anything else without description."""
    kind = _undescribed(kind)
    if isinstance(kind, UnionType):
        rest = [one for one in get_args(kind) if one not in {type(None), msgspec.UnsetType}]
        if len(rest) == 1:
            return _undescribed(rest[0])
    return kind


def _undescribed(kind: Kind) -> Kind:
    """Return X for `Annotated[X, …]`."""
    return kind.__origin__ if hasattr(kind, "__metadata__") else kind
