"""Names that a parameter may have as a variable."""

import re
from typing import Final

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_TAKEN_BEGINNINGS: Final = (
    "LD_", "DYLD_", "AGAVE_", "WEFT_", "BASH_", "PYTHON", "PERL", "RUBY", "NODE_", "GIT_", "SSH_",
    "LC_", "GCONV_", "MALLOC_", "SLURM_",
)  # fmt: skip
_TAKEN: Final = frozenset(
    {
        "PATH", "HOME", "IFS", "ENV", "SHELL", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND",
        "CDPATH", "GLOBIGNORE", "FPATH", "TMPDIR", "USER", "LOGNAME", "LANG", "LANGUAGE", "UID",
        "EUID", "PPID", "PWD", "OLDPWD", "TRACEPARENT", "HOSTALIASES", "LOCALDOMAIN",
        "RESOLV_HOST_CONF", "TERMINFO", "TERMPATH", "EDITOR", "PAGER", "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS", "CLASSPATH", "MANPATH", "NLSPATH", "TZDIR",
    }
)  # fmt: skip


def wrong_variable(name: str) -> str | None:
    """Return why a parameter cannot be called that; None: it can.

    It is a variable of the program, so it must be one that a shell can read, and not one by which
    the program's loader, shell or interpreter would do something else.
    """
    if not _VARIABLE.fullmatch(name):
        return "expected at most 64 letters, digits and underscores, no digit first"
    upper = name.upper()
    if upper in _TAKEN or upper.startswith(_TAKEN_BEGINNINGS):
        return f"the variable {name} has a meaning of its own; choose another id"
    return None
