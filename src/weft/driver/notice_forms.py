"""What doors tell subscriptions of their jobs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from weft.ports.store import Row


@dataclass(frozen=True, kw_only=True)
class Notice:
    """One event of a job, for one subscription."""

    subscription_id: int
    key: str
    """Which event: the same whenever the job is looked at."""
    url: str
    body: str


@dataclass(frozen=True, kw_only=True)
class NoticeForm:
    """The notices of jobs that came through a door."""

    notices: Callable[[Row, Sequence[Row], tuple[str, ...]], Iterable[Notice]]
    """From what the store knows of a job, its subscriptions (`Notified.jobs`) and names of values
    that nobody is shown, to what is to be sent and is not recorded yet, in order.
    """
    headers: Callable[[str, str], Mapping[str, str]]
    """Of a request, from the names of delivery and subscription."""
    mail: Callable[[bytes], tuple[str, str]]
    """Subject and text of a notice that is mailed, from its body."""
