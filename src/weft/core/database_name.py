"""What a database is called: in the list of logins, in the log."""

from urllib.parse import parse_qs, unquote, urlsplit


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
