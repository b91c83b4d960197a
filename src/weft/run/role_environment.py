"""The environment of a home's processes: every setting except secrets."""

import os
from collections.abc import Mapping

from weft.settings import Settings, all_declared, declared_in, values_of, variable_of
from weft.settings.client import ClientSettings

_FOR_CLIENTS = frozenset(one.name for one in declared_in(ClientSettings))


def role_environment(
    settings: Settings, environ: Mapping[str, str] | None = None, **changes: str
) -> dict[str, str]:
    """Return the environment of a role: ours, with this process's settings as `WEFT_<NAME>`.

    So flags and files of `weft up` hold for its roles too; but `ps` may show an environment, so
    roles read what is secret from the files of the home. `changes`: settings that differ.
    """
    environ = os.environ if environ is None else environ
    declared = all_declared()
    ours = {variable_of(name) for name in declared}
    result = {name: value for name, value in environ.items() if name not in ours}
    for name, value in values_of(settings).items():
        if value is not None and not declared[name].is_secret and name not in _FOR_CLIENTS:
            result[variable_of(name)] = (
                str(value).lower() if isinstance(value, bool) else str(value)
            )
    return result | {variable_of(name): value for name, value in changes.items()}
