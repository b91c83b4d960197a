"""The file that names the connections over which queues may travel (setting `transports_file`)."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from weft.core.alike import alike
from weft.core.bounded import Unreadable, read_toml
from weft.core.problems import Problems
from weft.core.scheduling.offers import POSTGRES
from weft.ports.transport import ASSIGNOR, Connection
from weft.settings.declare import InvalidSetting
from weft.wire.mistakes import check_types

Text = Annotated[str, Meta(min_length=1, max_length=1024)]
Name = Annotated[str, Meta(pattern="^[A-Za-z][A-Za-z0-9_.-]{0,62}$")]
_HINT: Final = "docs/guides/rabbitmq.md and docs/guides/kafka.md have examples of such a file."
_TABLES: Final = ("jobs", "events", "submissions")
"""Those of an entry that name a tenant and a user, any number of each."""


class JobTopicsDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """Topics over which the jobs of a door travel; a table `[[transports.jobs]]`."""

    door: Name
    """Its jobs, of this tenant."""
    tenant: Text
    user: Text
    """As whom jobs are submitted that records bring."""
    project: Text | None = None
    """The billing project of these jobs; None: as for others of this user."""
    group: Text | None = None
    """Of the consumers that run jobs; None: as the door says, behind the prefix."""
    prefix: Annotated[str, Meta(pattern="^[A-Za-z0-9._-]{0,100}$")] = ""
    """In front of the names of its topics and groups: two sets of one cluster differ in it."""

    def name_at(self, connection: str) -> str:
        """Return what the set is called."""
        return f"{connection}/{self.prefix}" if self.prefix else connection


class EventsDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """Topic or exchange to which the events of a tenant go; a table `[[transports.events]]`."""

    tenant: Text
    user: Text
    """The name of the user who sees them."""


class SubmissionsDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """The submitter of batches that come by a queue or topic: `[[transports.submissions]]`."""

    tenant: Text
    user: Text
    project: Text | None = None
    """The billing project of these batches; None: that of each batch, or as for others of this
    user.
    """


class TransportDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """One entry `[[transports]]` of the file."""

    name: Name
    kind: Name
    address: Text
    """As its kind writes it: `amqp://HOST:PORT`, `kafka://HOST:PORT,HOST:PORT`; with TLS
    `amqps://` and `kafkas://`."""
    tenants: Annotated[tuple[Text, ...], Meta(min_length=1)]
    """Whose queues may travel over it."""
    virtual_host: Text = "/"
    user: Text = "guest"
    password_file: Text | None = None
    password_env: Text | None = None
    ca_file: Text | None = None
    assignor: Literal["range", "roundrobin", "cooperative-sticky"] = ASSIGNOR
    """How the members of groups of Kafka share partitions."""
    sinks: tuple[Text, ...] = ()
    """Exchanges or topics to which sinks of these tenants may write; `*` stands for any text."""
    sources: tuple[Text, ...] = ()
    """Queues or topics that sources of these tenants may read, likewise."""
    jobs: tuple[JobTopicsDocument, ...] = ()
    events: tuple[EventsDocument, ...] = ()
    submissions: tuple[SubmissionsDocument, ...] = ()

    @property
    def tenants_in(self) -> set[str]:
        """Return the tenants for which it takes in jobs or batches."""
        return {one.tenant for one in self.jobs} | {one.tenant for one in self.submissions}


class _TransportsFile(Struct, forbid_unknown_fields=True):
    transports: list[TransportDocument]


def read_transports(path: Path | None) -> Sequence[Connection]:
    """Return the connections of the file, with their passwords; none without a file. Raise
    `InvalidSetting`, which names the entry.
    """
    return [
        alike(
            Connection,
            transport,
            password=_password_of(transport, folder),
            ca_file=None if transport.ca_file is None else folder.parent / transport.ca_file,
        )
        for transport in known_transports(path)
        if (folder := path) is not None
    ]


def known_transports(path: Path | None) -> Sequence[TransportDocument]:
    """Return the entries of the file without their passwords; none without a file. Raise
    `InvalidSetting`, which names the entry.
    """
    if path is None:
        return []
    try:
        written = _with_lists(read_toml(path.read_text("utf-8-sig")))
    except OSError as error:
        raise _wrong(path, error.strerror or str(error)) from error
    except (Unreadable, UnicodeDecodeError) as error:
        raise _wrong(path, str(error)) from error
    try:
        documents = msgspec.convert(written, _TransportsFile).transports
    except msgspec.ValidationError as error:
        raise _wrong(path, _place_of(written) or str(error)) from error
    for n, document in enumerate(documents):
        if wrong := _mistake(document, {other.name for other in documents[:n]}):
            raise _wrong(path, f"{wrong} - at `$.transports[{n}]`")
    if wrong := _shared(documents):
        raise _wrong(path, wrong)
    return documents


def _place_of(written: object) -> str:
    """Return which table or field is wrong, and which one was meant; empty: a number is."""
    problems = Problems()
    check_types(written, _TransportsFile, "", problems)
    return "; ".join(f"{one.message} - at `{_path_of(one.pointer)}`" for _, one in problems.found)


def _path_of(pointer: str) -> str:
    parts = pointer.split("/")[1:]
    return "$" + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts)


def _with_lists(written: dict[str, Any]) -> dict[str, Any]:
    """Let one table, `[transports.jobs]`, be a list of one."""
    entries = written.get("transports")
    for entry in entries if isinstance(entries, list) else ():
        for table in _TABLES if isinstance(entry, dict) else ():
            if isinstance(entry.get(table), dict):
                entry[table] = [entry[table]]
    return written


def named_sets(path: Path | None, table: str) -> Sequence[tuple[Connection, Any]]:
    """Return all tables of this name, each with its connection. Raise `InvalidSetting`."""
    sets = {one.name: found for one in known_transports(path) if (found := getattr(one, table))}
    return [
        (connection, one)
        for connection in (read_transports(path) if sets else ())
        for one in sets.get(connection.name, ())
    ]


def named_users(path: Path | None) -> Sequence[tuple[str, str]]:
    """Return tenants and users that tables of the file name, once each. Raise `InvalidSetting`."""
    known = known_transports(path)
    tables = [one for entry in known for name in _TABLES for one in getattr(entry, name)]
    return sorted({(table.tenant, table.user) for table in tables})


def password_files(path: Path | None) -> Sequence[Path]:
    """Return the password files it names; none if it is unreadable, which the driver tells."""
    if path is None:
        return []
    try:
        found = known_transports(path)
    except InvalidSetting:
        return []
    return [path.parent / one.password_file for one in found if one.password_file is not None]


def _mistake(document: TransportDocument, names: set[str]) -> str | None:
    if document.name == POSTGRES:
        return f"the name {POSTGRES} is that of the database"
    if document.name in names:
        return f"the name {document.name} is that of another entry"
    for table in _TABLES:
        for n, found in enumerate(getattr(document, table)):
            if found.tenant not in document.tenants:
                return f"`{table}[{n}].tenant` is none of `tenants`"
    if "@" in document.address:
        return "`address` names no user and no password: `user` and `password_file` do"
    if document.password_file is not None and document.password_env is not None:
        return "only one of `password_file` and `password_env` is possible"
    return None


def _shared(documents: Sequence[TransportDocument]) -> str | None:
    """Say which two tables would read or write the same topics, queues or exchanges."""
    seen: dict[tuple[str, ...], str] = {}
    for n, document in enumerate(documents):
        for table in _TABLES:
            for m, each in enumerate(getattr(document, table)):
                key = "prefix" if isinstance(each, JobTopicsDocument) else "tenant"
                here = f"$.transports[{n}].{table}[{m}]"
                at = (table, document.address, document.virtual_host, getattr(each, key))
                if at in seen:
                    return f"another table has the same `{key}`: `{seen[at]}` - at `{here}.{key}`"
                seen[at] = here
    return None


def _password_of(one: TransportDocument, path: Path) -> str:
    if one.password_env is not None:
        password, source = os.environ.get(one.password_env, ""), f"variable {one.password_env}"
    elif one.password_file is not None:
        source = str(path.parent / one.password_file)
        try:
            password = (path.parent / one.password_file).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise _wrong(path, f"the password in {source} cannot be read") from error
    else:
        return ""
    if not (password := password.strip()):
        raise _wrong(path, f"the password in {source} is empty")
    return password


def _wrong(path: Path, why: str) -> InvalidSetting:
    return InvalidSetting(f"transports_file {path} cannot be used: {why}", hint=_HINT)
