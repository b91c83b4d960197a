"""An api as a process of its own, on the home of a bench."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from weft.bench.throwaway import running_role
from weft.run.home import Home


@asynccontextmanager
async def running_api(home: Home, name: str = "api") -> AsyncIterator[str]:
    """Run an api of a home, as `weft up` starts it; give its url. `name`: another one for each
    further api.
    """
    async with running_role(home, "api", name):
        ready = home.ready(name) or {}
        yield f"http://{ready['host']}:{ready['port']}"
