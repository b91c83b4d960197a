"""What `weft up` and `weft down` say at their end."""

import os
import shlex

import msgspec

from weft.settings import Settings, default_home


def as_json_line(**facts: object) -> str:
    """Return facts as `--json` prints them."""
    return msgspec.json.encode(facts).decode() + "\n"


def summary_of(
    settings: Settings, url: str, link: str | None = None, *, detached: bool, as_json: bool
) -> str:
    """Return what `weft up` says when all is ready. `link`: logs a browser in."""
    if as_json:
        return as_json_line(url=url, home=str(settings.home), logs=str(settings.home / "log"))
    # In another terminal the variable may be missing; in this one it may name another home.
    known = default_home(os.environ if detached else {}).absolute() == settings.home
    hint = "" if known else f"  export WEFT_HOME={shlex.quote(str(settings.home))}\n"
    down = "weft down" if known else f"weft down --home {shlex.quote(str(settings.home))}"
    pages = (
        "weft open, which makes a link that logs a browser in"
        if link is None
        else f"{link}\n         once, within 5 minutes; `weft open` makes another link"
    )
    stop = down if detached else f"Ctrl-C here, or {down}"
    return (
        f"\nweft is ready at {url}\n"
        f"  home   {settings.home}\n"
        f"  logs   {settings.home / 'log'}\n"
        f"  stop   {stop}\n"
        f"  pages  {pages}\n"
        f"\nTry{'' if detached else ' in another terminal'}:\n"
        f"{hint}"
        "  weft run -- echo hello\n"
        "  seq 100 | weft each -- sh -c 'echo {} squared is $(({} * {}))'\n"
        "  weft top\n\n"
    )
