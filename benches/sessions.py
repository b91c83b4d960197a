"""The session of a browser, for benches that look at pages."""

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import httpx

from weft.bench.plan import BenchFailed


@dataclass(frozen=True)
class Session:
    """The session of a reader of pages."""

    url: str
    name: str
    value: str

    @property
    def cookie(self) -> str:
        """Return the value of the header `Cookie`."""
        return f"{self.name}={self.value}"


async def log_in(http: httpx.AsyncClient, token: str | None) -> Session:
    """Log in as a person does: with a link, and the button of its page. Later requests of this
    client have the session.
    """
    url = str(http.base_url).rstrip("/")
    bearer = {"authorization": f"Bearer {token}"}
    link = (await http.post("/v1/login-links", json={}, headers=bearer)).json()["url"]
    code = parse_qs(urlsplit(link).query)["code"][0]
    await http.post("/login", data={"code": code}, headers={"origin": url})
    if not (cookies := list(http.cookies.jar)):
        raise BenchFailed("the throw-away server gave no session")
    return Session(url, cookies[0].name, cookies[0].value or "")
