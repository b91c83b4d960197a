"""The port `policy`: it says how long jobs wait before they are tried again, in built-in terms.

A policy is asked once, when a job is submitted, and answers with a policy that is built in, such
as `{"policy": "stepwise", "steps": [...]}`. The database goes by that, so the waits stay a
function of the tries alone, and nothing of the plug-in runs when attempts end. Built in, and no
plug-ins: `constant`, `exponential`, `stepwise`. Loaded by the entry points `weft.policies` in each
api.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from weft.ports.plugins import PluginGroup

Parameters = Mapping[str, int | float | str]


class Policy(Protocol):
    """Translates one kind of policy."""

    @property
    def parameters(self) -> Sequence[str]:
        """Return the names of the parameters that it needs."""

    @property
    def optional(self) -> Sequence[str]:
        """Return the names of those that it also knows."""

    def built_in(self, parameters: Parameters) -> Mapping[str, Any]:
        """Return the policy in built-in terms. Raise `ValueError` for wrong parameters; the text
        is for the user. Must not block: it is called while a request waits.
        """


POLICY_PLUGINS: Final = PluginGroup[Callable[[], Policy]]("weft.policies", "policy")
