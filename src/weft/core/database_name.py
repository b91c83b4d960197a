"""What a database is called, in the list of logins and in the log, and where it is."""

from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit, urlunsplit


def database_name(dsn: str) -> str:
    """Return the name of an external database: where it is, whoever logs in and however.

    >>> database_name("postgresql://me:pw@db.example:5432/weft?sslmode=require")
    'db.example/weft'
    >>> database_name("postgresql://you@/weft?host=/run/pg&port=5433")
    '/run/pg:5433/weft'
    """
    parts = urlsplit(dsn)
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    login, _, host = parts.netloc.rpartition("@")
    host = unquote(host).lower() or query.get("host", "")
    if "port" in query:
        host = f"{host}:{query['port']}"
    user = query.get("user") or unquote(login.partition(":")[0])
    name = unquote(parts.path.strip("/")) or query.get("dbname") or query.get("database") or user
    return f"{host.removesuffix(':5432')}/{name}"


def with_host(dsn: str, host: str) -> str:
    """Return the DSN of the same database and login at another `host:port`.

    >>> with_host("postgresql://me:pw@db:5432/weft?port=5433&sslmode=require", "pooler:6432")
    'postgresql://me:pw@pooler:6432/weft?sslmode=require'
    """
    parts = urlsplit(dsn)
    login = parts.netloc.rpartition("@")[0]
    query = [(k, v) for k, v in parse_qsl(parts.query) if k not in {"host", "port"}]
    return urlunsplit(parts._replace(netloc=f"{login}@{host}", query=urlencode(query)))


def check_pooler(text: str) -> None:
    """Raise `ValueError` unless it is `host:port`, or `[address]:port`."""
    parts = urlsplit(f"//{text}")
    if parts.netloc != text or "@" in text or not (parts.hostname and parts.port):
        raise ValueError("expected host:port, such as `127.0.0.1:6432`")
