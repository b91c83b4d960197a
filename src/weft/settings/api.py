"""Settings of the api."""

from pathlib import Path
from typing import Annotated

from weft.core.access.secret_variables import USUAL
from weft.core.access.trusted_proxies import parse_networks
from weft.settings.declare import Bytes, Checked, section, setting


@section
class ApiSettings:
    """Where the api listens, and how much one question may cost."""

    host: str = setting("127.0.0.1", "address on which the api listens")
    currency: str = setting("", "currency of the prices, as pages name it, such as EUR")
    port: int = setting(8765, "port of the api; 0 takes a free one", within=(0, 65535))
    tls_cert_file: Path | None = setting(
        None,
        "PEM file of the certificate with which the api speaks TLS; none: it speaks plain HTTP",
    )
    tls_key_file: Path | None = setting(
        None, "PEM file of the certificate's private key; none: it is in tls_cert_file"
    )
    exec_job_max: int = setting(
        4, "commands of `weft exec` beside one job at a time; 0: none", within=(0, 1000)
    )
    trusted_proxies: Annotated[str, Checked(parse_networks)] = setting(
        "",
        "networks of the proxies whose X-Forwarded-For, -Proto and -Host are believed, "
        "such as `10.0.0.0/8, 127.0.0.1`",
    )
    trusted_users: bool = setting(
        default=False,
        help_="all users may read what the account of the worker may, tokens of others among it: "
        "let them in though jobs run in no sandbox, and warn of it no more",
    )
    page_rows: int = setting(50, "rows of a page if the caller does not say", within=(1, 1000))
    requests_per_s: float = setting(
        0.0,
        "requests per second of one token at one api in the long run, those of ten seconds at "
        "once; 0: any number",
        within=(0, 1_000_000),
    )
    user_requests_per_s: float = setting(
        0.0,
        "requests per second of all tokens and sessions of one user at one api, counted likewise; "
        "0: any number",
        within=(0, 1_000_000),
    )
    user_connections_max: int = setting(
        6,
        "connections to the database, of the eight of one api, that work for one user at a time",
        within=(1, 8),
    )
    tenant_requests_max: int = setting(
        2000,
        "requests of one tenant that one api serves at a time, open streams included; one user "
        "may have half of them",
        within=(2, 1_000_000),
    )
    failed_logins_per_s: float = setting(
        100.0,
        "requests per second with wrong tokens from one address at one api in the long run, those "
        "of ten seconds at once; 0: any number",
        within=(0, 1_000_000),
    )
    head_timeout_s: float = setting(
        30.0, "seconds that the head of a request may take to arrive", within=(0.01, 3600)
    )
    body_timeout_s: float = setting(
        60.0, "seconds that the body of a request may take to arrive", within=(0.01, 3600)
    )
    bulk_batches_max: int = setting(
        1000,
        "batches that one action may name, and up to which those of a query are counted",
        within=(1, 10_000),
    )
    evaluators_max: int = setting(
        4,
        "processes of one api that evaluate expressions, one for a tenant at a time",
        within=(1, 100),
    )
    evaluation_one_s: float = setting(
        0.5,
        "seconds of CPU to evaluate what guards or expressions say of one of several things",
        within=(0.01, 60),
    )
    evaluation_all_s: float = setting(
        2.0,
        "seconds of CPU to evaluate what they say in one request, or to check a file of them",
        within=(0.01, 60),
    )
    evaluation_memory_bytes: Bytes = setting(
        1 << 30, "memory of a process that evaluates", within=(1 << 28, 1 << 40)
    )
    query_chars_max: int = setting(8192, "characters of a query", within=(1, 1 << 16))
    query_scan_jobs_max: int = setting(
        1_000_000,
        "jobs that may be read for a query that no index answers",
        within=(1, 2_000_000_000),
    )
    unarchived_keep_s: int = setting(
        604_800,
        "seconds for which the directory of a job without an archive is kept (`archive: false`)",
        within=(60, 1_000_000_000),
    )
    find_bytes_max: int = setting(
        64 << 20,
        "bytes of output that one request reads to find lines, and then at most one MiB",
        within=(1, 1 << 36),
    )
    reasons_attempts_max: int = setting(
        20_000,
        "failed attempts that one request reads to count why jobs failed",
        within=(1, 1_000_000),
    )
    report_batches_max: int = setting(
        200_000,
        "sums of batches, one for each date and kind of job, that a report by attribute may read",
        within=(1, 100_000_000),
    )
    query_timeout_s: float = setting(
        10.0, "seconds after which a query is stopped", within=(0.1, 600)
    )
    door_search_timeout_s: float = setting(
        0.5, "seconds after which a search of jobs by a door is refused", within=(0.01, 600)
    )
    issuers_file: Path | None = setting(
        None, "TOML file that names the issuers of JSON web tokens that are believed"
    )
    session_valid_s: float = setting(
        604_800.0, "seconds after which a session of a browser ends", within=(60, 31_536_000)
    )
    sessions_per_user_max: int = setting(
        100, "sessions that one user may have; then the oldest one ends", within=(1, 10_000)
    )
    masked_env: str = setting(
        USUAL,
        "variables of jobs whose values are shown to nobody: names with * and ?, between commas",
    )
