"""Settings that limit what may be submitted."""

from weft.settings.declare import Bytes, section, setting


@section
class SubmissionSettings:
    """How large requests, jobs, groups and batches may be."""

    bunch_jobs_max: int = setting(
        10_000, "jobs in one request, an array counted once", within=(1, 100_000)
    )
    array_jobs_max: int = setting(
        1_000_000,
        "jobs in one request, those of arrays counted one by one",
        within=(1, 100_000_000),
    )
    bunch_edges_max: int = setting(
        1_000_000, "pairs of a job and its parent in one request", within=(1, 100_000_000)
    )
    bunch_bytes_max: Bytes = setting(16 << 20, "bytes of one request", within=(1 << 10, 1 << 30))
    argv_bytes_max: Bytes = setting(
        128 << 10, "bytes of argv and environment of one job", within=(1 << 10, 1 << 21)
    )
    stdin_bytes_max: Bytes = setting(
        1 << 20, "bytes of the standard input of one job", within=(1 << 10, 1 << 30)
    )
    script_bytes_max: Bytes = setting(
        1 << 20, "bytes of the script of one job", within=(1 << 10, 1 << 24)
    )
    message_bytes_max: Bytes = setting(
        64 << 10, "bytes of a message to a running job", within=(1, 1 << 20)
    )
    function_bytes_max: Bytes = setting(
        1 << 20,
        "bytes of a pickled function, and of the arguments of one job",
        within=(1 << 10, 16 << 20),
    )
    payload_bytes_max: Bytes = setting(
        256 << 20,
        "bytes of the arguments of one job that are sent before it, in parts",
        within=(1 << 10, 4 << 30),
    )
    app_bytes_max: Bytes = setting(
        64 << 20, "bytes of the packed folder of an application", within=(1 << 10, 4 << 30)
    )
    app_unpacked_bytes_max: Bytes = setting(
        512 << 20, "bytes of all files of an application", within=(1 << 10, 16 << 30)
    )
    apps_max: int = setting(
        1000,
        "contents of applications that a tenant may have, those that only older jobs run included",
        within=(0, 100_000),
    )
    job_files_max: int = setting(100, "inputs and outputs of one job", within=(0, 10_000))
    secrets_per_user_max: int = setting(100, "secrets that a user may have", within=(0, 10_000))
    saved_queries_per_user_max: int = setting(
        100, "saved queries that a user may have", within=(0, 1000)
    )
    secret_bytes_max: Bytes = setting(
        1 << 16, "bytes of the value of a secret", within=(1, 1 << 20)
    )
    tokens_per_user_max: int = setting(
        1000, "tokens that one user may have", within=(1, 1_000_000)
    )
    name_chars_max: int = setting(256, "characters of a name", within=(1, 1024))
    attributes_max: int = setting(64, "attributes of a batch, a job or a group", within=(0, 1024))
    attribute_bytes_max: Bytes = setting(
        1024, "bytes of one attribute, key and value", within=(1, 65536)
    )
    group_depth_max: int = setting(16, "depth of the tree of groups", within=(1, 64))
    batch_groups_max: int = setting(1_000_000, "groups of one batch", within=(1, 2_000_000_000))
    job_sets_max: int = setting(64, "sets that one job may be in", within=(1, 1024))
    rename_groups_max: int = setting(
        10_000, "groups whose paths one new name may change", within=(1, 1_000_000)
    )
