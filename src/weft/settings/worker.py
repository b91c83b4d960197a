"""Settings of workers."""

from pathlib import Path
from typing import Annotated, Literal

from weft.core.access.run_as import parse_accounts
from weft.core.addresses import parse_allowed_hosts
from weft.core.billing.resources import MIB
from weft.core.scheduling.offers import parse_gpus, parse_labels, parse_offers, parse_queues
from weft.core.text.texts import parse_paths
from weft.settings.declare import Checked, LargeBytes, section, setting


@section
class WorkerSettings:
    """What a worker has, and how it stops."""

    worker_name: str | None = setting(None, "name of this worker; none: the host's name")
    pool: str = setting("default", "pool that the worker joins")
    connect: str | None = setting(
        None,
        "URL of the api for a worker outside, without a login of the database; none: it has one",
    )
    token_file: Path | None = setting(
        None, "file with the token of a worker that connects; only its owner may read it"
    )
    connect_cert_file: Path | None = setting(
        None,
        "PEM file of the very certificate that the api shows to a worker that connects, whatever "
        "its names; none: one of those that ca_file or the system trust",
    )
    runner: str = setting("spawner", "runner that runs the worker's jobs")
    worker_cpu_m: int | None = setting(
        None,
        "mCPU that the worker gives to jobs; none: all cores of the host",
        within=(1, 100_000_000),
        option="--worker-cpu",
    )
    worker_memory_bytes: LargeBytes | None = setting(
        None,
        "memory that the worker gives to jobs; none: 90% of the host's",
        within=(MIB, None),
        option="--worker-memory",
    )
    worker_queues: Annotated[str, Checked(parse_queues)] = setting(
        "",
        "queues that the worker serves, as short,large; none: all that use its pool",
        option="--queue",
    )
    worker_offers: Annotated[str, Checked(parse_offers)] = setting(
        "",
        "what jobs may ask of this worker beside cpu, memory and storage: amounts and words, "
        "as gpu=2,matlab=3,region=eu",
    )
    worker_labels: Annotated[str, Checked(parse_labels)] = setting(
        "",
        "labels that jobs may ask for, as rack=12,zone=b; words, never amounts",
        option="--label",
    )
    worker_slots: int | None = setting(
        None,
        "jobs that the worker runs at a time, whatever they ask for; none: as many as fit",
        within=(1, 1_000_000),
        option="--slots",
    )
    simulation_slots: int = setting(
        10_000,
        "simulated jobs that `weft up` runs at a time, beside those of its worker; 0: none",
        within=(0, 1_000_000),
    )
    topics_runs: int = setting(
        500,
        "runs that records of topics ask for and a worker of simulations has at a time, of each "
        "set of topics; the rest stays with the broker",
        within=(1, 10_000),
    )
    topics_answer_s: float = setting(
        60.0,
        "seconds, beyond what its steps take, after which a run that nobody has answered is asked "
        "for again over topics; then it waits twice as long each time",
        within=(1, 31_536_000),
    )
    topics_keep_s: float = setting(
        691_200.0,
        "seconds for which the runs of records of topics are remembered, longer than the topics "
        "keep records",
        within=(60, 31_536_000),
    )
    worker_walltime_s: int | None = setting(
        None,
        "seconds after its start at which the worker's machine ends; jobs start whose time limit "
        "ends before; none: it stays",
        within=(240, 31_536_000),
    )
    worker_gpus: Annotated[str, Checked(parse_gpus)] = setting(
        "auto",
        "ids of the GPUs that the worker gives to jobs, as 0,1 or GPU-8f2c; none; "
        "auto: those of the host",
        option="--gpus",
    )
    detach_jobs: bool = setting(
        default=False, help_="leave running jobs alone when the worker stops"
    )
    job_namespace: Literal["auto", "always", "never"] = setting(
        "auto",
        "PID namespace for jobs; auto: where the kernel permits one that leaves them all groups",
    )
    sandbox: Literal["none", "bubblewrap"] = setting(
        "none", "what keeps jobs away from the worker's files, sockets and other jobs"
    )
    sandbox_network: bool = setting(
        default=True, help_="let jobs in sandboxes use the network of the host"
    )
    sandbox_paths: Annotated[str, Checked(parse_paths)] = setting(
        "", "directories of the host that jobs in sandboxes may write, as /data,/scratch"
    )
    job_limits: Literal["never", "auto", "always"] = setting(
        "never",
        "cgroup limits that hold jobs to the cpu and memory that they reserve; auto: where the "
        "host has delegated a cgroup to the worker; always: the worker needs one to start",
    )
    job_cgroup: str = setting(
        "", "the delegated cgroup for job_limits, a directory; empty: that around the worker's own"
    )
    job_limits_cpu: Literal["weight", "quota"] = setting(
        "weight",
        "with job_limits: weight, jobs may use idle cores beyond what they reserve; quota: never",
    )
    job_processes_max: int = setting(
        4096,
        "with job_limits: processes and threads that a job may have at a time",
        within=(1, 4_194_304),
    )
    run_as: Literal["worker", "user"] = setting(
        "worker",
        "under whose Unix account jobs run; user: that of their user, by a worker of root",
    )
    run_as_accounts: Annotated[str, Checked(parse_accounts)] = setting(
        "",
        "accounts of users with run_as, as ada=ada,bob=20001:20001,acme/eve=eve; users of the "
        "installation's own tenant who are not named have the one of their name",
    )
    run_as_directory: str = setting(
        "/var/lib/weft-jobs",
        "directory below which jobs have theirs with run_as; all accounts must reach it",
    )
    run_as_uid_min: int = setting(
        1000, "least number of an account with run_as", within=(1, 2**32 - 2)
    )
    unsigned_functions: bool = setting(
        default=False, help_="call functions that have no signature"
    )
    checkpoint_look_s: float = setting(
        600.0,
        "seconds between looks whether jobs with kept checkpoints have ended elsewhere",
        within=(1, 86_400),
    )
    checkpoint_ship_s: float = setting(
        60.0,
        "seconds between looks whether checkpoints of a worker outside have changed; those that "
        "have are brought to the api",
        within=(0.1, 86_400),
    )
    checkpoint_bytes_max: LargeBytes = setting(
        256 << 20,
        "bytes of a checkpoint that a worker outside brings to the api; a larger one stays there",
        within=(1 << 10, 1 << 40),
    )
    usage_sample_s: float = setting(
        5.0,
        "seconds between samples of the cpu and memory that running jobs use; 0: none",
        within=(0, 3600),
    )
    usage_samples_max: int = setting(
        1000,
        "samples kept of one attempt; of more every second one goes, and they get rarer",
        within=(2, 1000),
    )
    input_paths: Annotated[str, Checked(parse_paths)] = setting(
        "",
        "directories of the worker's host from which jobs may get files, as /data,/ref; with "
        "run_as only what everybody may read",
    )
    input_private_hosts: Annotated[str, Checked(parse_allowed_hosts)] = setting(
        "",
        "networks and hosts from which jobs may get files by http and https although they are "
        "not public, such as `10.0.0.0/8, data.internal`; `*`: all; for the api, too",
    )
    input_url_s_max: float = setting(
        3600.0, "seconds within which a file comes by http or https", within=(1, 86_400)
    )
    output_away_s_max: float = setting(
        259_200.0,
        "seconds that what a job has left waits for a store that does not answer, before the job "
        "fails without it",
        within=(1, 31_536_000),
    )
    staging_files_max: int = setting(
        4,
        "files and requirements of a tenant that a worker fetches or keeps at a time; of all of "
        "them twice as many",
        within=(1, 1000),
    )
    worker_free_bytes_min: LargeBytes = setting(
        64 << 20,
        "room on the disks of output and working directories below which no job starts; 0: any",
        within=(0, 1 << 50),
    )
    input_cache_bytes: LargeBytes = setting(
        10 << 30,
        "bytes of files from stores and web servers that a worker keeps for the next jobs of the "
        "same tenant; those not used for longest go; 0: none",
        within=(0, 1 << 50),
    )
    input_bytes_max: LargeBytes = setting(
        1 << 40, "bytes of one input, and of what is unpacked of it", within=(MIB, 1 << 50)
    )
    input_entries_max: int = setting(
        1_000_000, "files that are unpacked of one input", within=(1, 1_000_000_000)
    )
    requirements_index: str | None = setting(
        None,
        "URL of the index of packages, or directory of wheels, that requirements of jobs are "
        "installed from; none: that of pip or uv",
        is_secret=True,
    )
    requirements_s: float = setting(
        900.0, "seconds within which requirements of jobs are installed", within=(1, 86_400)
    )
    requirements_cache_bytes: LargeBytes = setting(
        20 << 30,
        "bytes of installed requirements beyond which those go that were not used for longest; "
        "no environment takes more, with what is fetched for it",
        within=(MIB, 1 << 50),
    )
    requirements_memory_bytes: LargeBytes = setting(
        1 << 30,
        "bytes of memory that the program may take that installs requirements of jobs",
        within=(128 * MIB, 1 << 40),
    )
    requirements_files_max: int = setting(
        500_000, "files of one environment of requirements", within=(10_000, 100_000_000)
    )
    output_bytes_max: LargeBytes = setting(
        1 << 40, "bytes of all outputs of one attempt", within=(MIB, 1 << 50)
    )
    output_files_max: int = setting(
        10_000, "files that one attempt may leave", within=(1, 100_000)
    )
    note_bytes_per_s: LargeBytes = setting(
        8 << 20,
        "bytes of notes that a worker records in a second for each tenant, a quarter of them for "
        "one running job; what an end would wait for longer than 30 s is passed over",
        within=(64 << 10, 1 << 30),
    )
    products_max: int = setting(1000, "products that one attempt may name", within=(1, 100_000))
    product_bytes_max: LargeBytes = setting(
        1 << 20, "bytes of all products of one attempt", within=(1, 8 << 20)
    )
    grace_s: float = setting(10.0, "seconds from SIGTERM to SIGKILL", within=(0, 3600))
