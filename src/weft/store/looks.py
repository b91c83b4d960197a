"""Questions to workers outside, in the worker's store."""

from weft.ports.worker_link import LookStore
from weft.store.database import StorePart
from weft.store.declared import calls, nothing, value
from weft.store.worker_files import ATTEMPT


class Looks(StorePart):
    """Calls about questions, as `LookStore` of the worker's port has them."""

    ask_look = calls(value, **ATTEMPT, most="limit_open")(LookStore.ask_look)
    read_look = calls(value)(LookStore.read_look)
    answer_look = calls(nothing)(LookStore.answer_look)
    take_look = calls(value)(LookStore.take_look)
