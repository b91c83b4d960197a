"""What a door registers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from weft.ports.plugins import PluginGroup

if TYPE_CHECKING:
    from weft.api.http.doors import ApiDoor
    from weft.driver.callback_forms import CallbackForm, NoticeForm


class ClientSetup(NamedTuple):
    """What a client reads on its own machine."""

    files: Mapping[str, str]
    """Their texts, by name."""
    variables: Mapping[str, str]
    """To be set, by a file `env` that is written besides."""
    misleading: Sequence[str] = ()
    """Variables of another server, which `env` unsets."""


class ClientFiles(NamedTuple):
    """The command `weft NAME-config DIRECTORY`, which writes what the door's own clients need."""

    sentence: str
    """In the list of commands."""
    page: str
    """Begins its page of help."""
    setup: Callable[[str, str, Path], ClientSetup]
    """From the server's url, the user's token and the directory."""


class DumpProblem(NamedTuple):
    """What is wrong with a line of a dump."""

    line: int
    field: str
    message: str


class DumpFormat(NamedTuple):
    """What `weft import NAME DUMP` reads: the jobs of another system, a line of JSON each."""

    name: str
    read: Callable[[Iterable[bytes]], tuple[Sequence[Mapping[str, Any]], Sequence[DumpProblem]]]
    """Returns the jobs as `POST /v1/imports` takes them, and what is wrong; then no job counts."""


class Door(NamedTuple):
    """The parts of a door. Each role calls for its own, so that no other role imports it."""

    name: str
    """That of its entry point, of small letters, digits and `-`."""
    title: str
    """Whose door it is, as people say it: "the client of lines"."""
    api: Callable[[], "ApiDoor"]
    callbacks: "Callable[[], CallbackForm] | None" = None
    """How the driver writes callbacks of batches that came through it; None: as all others."""
    notices: "Callable[[], NoticeForm] | None" = None
    """What the driver tells subscriptions of its jobs; None: they can have none."""
    client: ClientFiles | None = None
    """What the command line writes for its clients; None: they need nothing but url and token."""
    dumps: Callable[[], DumpFormat] | None = None
    """How its other server writes down its jobs; None: nothing can be imported."""
    workers_group: str | None = None
    """The group of consumers that run its jobs, if these can travel over topics
    (`wire/job_topics.py`); None: they cannot.
    """
    own_path: str | None = None
    """Where each of its jobs finds a directory of its own, if any does; `weft doctor` looks."""


DOOR_PLUGINS: Final = PluginGroup[Door]("weft.doors", "door")
