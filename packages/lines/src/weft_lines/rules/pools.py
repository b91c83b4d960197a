"""Pools and queues in a setup, `[pool.NAME]` and `[queue.NAME]`.

They are made elsewhere, because lines and tenants share them: a setup says how it wants them, and
is refused where they are not so.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from weft.core.lines.lifecycle import Say
from weft.core.lines.line import Wanted, Where
from weft.core.pools.pool import Pool
from weft.core.text.durations import duration_of
from weft_lines.rules.configuration import WORDS_MAX, are_ranked

PRIORITIES: Final = "priorities"
POOLS: Final = "pools"
_OF_IMAGE: Final = "${server.id:.8}"
"""What the provider writes behind the prefix of an image that it makes from a server."""


_A_TIME: Final = 'a time such as "15m"'


class _Field(NamedTuple):
    read: Callable[[object], object]
    """Returns the value in the units of `Pool`; None: it is none."""
    form: str
    of: Callable[[Pool], object]
    """What a pool has there."""


def _text(given: object) -> object:
    return given if isinstance(given, str) and given else None


def _number(given: object) -> object:
    return given if isinstance(given, int | float) and not isinstance(given, bool) else None


def _seconds(given: object) -> object:
    duration = duration_of(given)
    return None if duration is None else duration.total_seconds()


def _prefix(given: object) -> object:
    is_one = isinstance(given, str) and given.endswith(_OF_IMAGE)
    return _text(str(given).removesuffix(_OF_IMAGE)) if is_one else None


def _words(of: Callable[[Pool], object]) -> _Field:
    return _Field(_text, "a text", of)


def _count(of: Callable[[Pool], object]) -> _Field:
    return _Field(_number, "a number", of)


def _time(of: Callable[[Pool], object]) -> _Field:
    return _Field(_seconds, _A_TIME, of)


_FIELDS: Final[Mapping[Where, _Field]] = {
    ("provider",): _words(lambda pool: pool.provider),
    ("flavour",): _words(lambda pool: ", ".join(flavour.name for flavour in pool.flavours)),
    ("max",): _count(lambda pool: pool.max_workers),
    ("template", "server"): _words(lambda pool: pool.options.get("template")),
    ("template", "image"): _Field(
        _prefix,
        f'a text such as "worker-{_OF_IMAGE}"',
        lambda pool: pool.options.get("image_prefix"),
    ),
    ("template", "ready_when"): _words(lambda pool: pool.options.get("ready_when")),
    ("template", "within"): _time(lambda pool: pool.options.get("ready_within_s")),
    ("create", "at_least"): _count(lambda pool: pool.create_batch),
    ("create", "at_most"): _count(lambda pool: pool.creates_per_round),
    ("stale_after",): _time(lambda pool: pool.stale_s),
    ("idle_after",): _time(lambda pool: pool.idle_s),
    ("cordon", "share"): _count(lambda pool: pool.delete_share),
    ("cordon", "at_most"): _count(lambda pool: pool.deletes_per_round),
    ("quota", "vcpus"): _count(
        lambda pool: None if pool.quota_cpu_m is None else pool.quota_cpu_m / 1000
    ),
    ("quota", "ratio"): _count(lambda pool: pool.quota_share),
}
_EVERY: Final = ("create", "every")
"""How often the driver looks at pools, which is a setting."""
_FORMS: Final = {
    **{where: (one.read, one.form) for where, one in _FIELDS.items()},
    _EVERY: (_seconds, _A_TIME),
}
_TABLES: Final = frozenset(where[0] for where in _FIELDS if len(where) > 1)


def parse_pool(document: Mapping[str, Any], say: Say) -> Wanted:
    """Check what a setup says of a pool; it counts if nothing was said about it."""
    found = {}
    for where, given in _flat(document):
        read, form = _FORMS.get(where, (None, ""))
        if read is None:
            known = ", ".join(".".join(field) for field in _FORMS)
            say(where, f"here a pool has no such field; it has {known}")
        elif (value := read(given)) is not None:
            found[where] = value
        else:
            say(where, f"it should be {form}")
    return found


def _flat(document: Mapping[str, Any]) -> Iterator[tuple[Where, object]]:
    for name, given in document.items():
        if name in _TABLES and isinstance(given, Mapping):
            yield from (((name, field), one) for field, one in given.items())
        else:
            yield (name,), given


def differences(wanted: Wanted, pool: Pool, every_s: float) -> Iterator[tuple[Where, str]]:
    """Yield where a pool is not as it is wanted, and what it has there. `every_s`: how often the
    driver looks at it.
    """
    for where, value in wanted.items():
        if where == _EVERY:
            if value != every_s:
                yield where, f"the driver looks every {every_s:g} s (setting autoscale_s)"
            continue
        has = _FIELDS[where].of(pool)
        if has != value:
            shown = (
                "nothing" if has in {None, ""} else f"{has:g}" if isinstance(has, float) else has
            )
            yield where, f"the pool has {shown} there (`weft pool apply FILE`)"


def parse_queue(document: Mapping[str, Any], say: Say) -> Mapping[str, list[str]]:
    """Check what a setup says of a queue: the words for its priorities, and its pools; it counts
    if nothing was said about it.
    """
    if not document:
        say((), f"it should be a table of {PRIORITIES} and {POOLS}")
    for name, given in document.items():
        if name not in {PRIORITIES, POOLS}:
            say(
                (name,),
                f"here a queue has {PRIORITIES} and {POOLS} only; it is made by "
                "`weft queue apply FILE`",
            )
        elif not are_ranked(given):
            say((name,), f"it should be a list of 1 to {WORDS_MAX} words")
    return document
