-- Made by `make snapshot` from schema/; do not edit.
-- It shows in a review what a change of the tables does. Functions are in functions/.

CREATE SCHEMA weft;
ALTER SCHEMA weft OWNER TO postgres;

CREATE TYPE weft.cost_part AS (
	owner bigint,
	rate_card_id smallint,
	cpu numeric,
	memory numeric,
	storage numeric,
	gpu numeric
);
ALTER TYPE weft.cost_part OWNER TO postgres;

CREATE TYPE weft.group_columns AS (
	group_ids integer[],
	parent_ids integer[],
	names text[],
	attributes jsonb[],
	cancel_afters integer[],
	callbacks text[],
	are_sets boolean[]
);
ALTER TYPE weft.group_columns OWNER TO postgres;

CREATE TYPE weft.job_columns AS (
	shape_cpu_ms bigint[],
	shape_memory_mibs bigint[],
	shape_storage_mibs bigint[],
	shape_gpus integer[],
	shape_countables jsonb[],
	shape_indexes integer[],
	group_ids integer[],
	priorities smallint[],
	always_runs boolean[],
	max_attempts smallint[],
	retry_ons integer[],
	edge_children integer[],
	edge_parents integer[],
	edge_parent_ns integer[],
	combo_indexes integer[],
	combo_numbers integer[],
	combo_sets integer[],
	entry_ns integer[],
	array_firsts integer[],
	array_ns integer[],
	array_indexes integer[],
	array_names text[],
	array_attributes jsonb[],
	label_jobs integer[],
	label_names text[],
	label_attributes jsonb[],
	rare_jobs integer[],
	rare_fields jsonb[],
	chunk_firsts integer[],
	chunk_ns integer[],
	chunk_bodies bytea[],
	output_keep_s bigint
);
ALTER TYPE weft.job_columns OWNER TO postgres;

CREATE TYPE weft.offer AS (
	pass integer,
	load double precision,
	user_id integer,
	tenant_id integer,
	rank smallint,
	batch_id bigint,
	first_job integer,
	last_job integer,
	low_job integer,
	runnable_id bigint,
	lane_id integer,
	share_m bigint,
	share_jobs integer,
	left_by integer[]
);
ALTER TYPE weft.offer OWNER TO postgres;

CREATE TYPE weft.picked AS (
	job_ids integer[],
	tids tid[],
	queue_tids tid[],
	cpus_m integer[],
	memories_mib integer[],
	cpu_m bigint,
	memory_mib bigint
);
ALTER TYPE weft.picked OWNER TO postgres;

CREATE TYPE weft.shares AS (
	user_ids integer[],
	upto_m bigint[],
	jobs integer[]
);
ALTER TYPE weft.shares OWNER TO postgres;

CREATE TABLE weft.bunch (
    batch_id bigint NOT NULL,
    update_id integer NOT NULL,
    first_job integer NOT NULL,
    n_jobs integer NOT NULL,
    tenant_id integer NOT NULL,
    n_ranged integer NOT NULL,
    n_listed integer NOT NULL,
    has_cross boolean NOT NULL,
    idempotency_key text,
    digest bytea,
    lane_firsts integer[],
    lane_ids integer[],
    n_bytes bigint
);
ALTER TABLE weft.bunch OWNER TO postgres;

CREATE TABLE weft.batch_update (
    batch_id bigint NOT NULL,
    update_id integer NOT NULL,
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    first_job integer NOT NULL,
    n_jobs integer NOT NULL,
    first_group integer NOT NULL,
    n_groups integer NOT NULL,
    idempotency_key text,
    digest bytea,
    trace_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    committed_at timestamp with time zone,
    CONSTRAINT batch_update_n_groups_check CHECK ((n_groups >= 0)),
    CONSTRAINT batch_update_n_jobs_check CHECK ((n_jobs >= 0))
);
ALTER TABLE weft.batch_update OWNER TO postgres;

CREATE TABLE weft.job (
    batch_id bigint NOT NULL,
    ready_at timestamp with time zone,
    claimed_at timestamp with time zone,
    started_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    billed_ms bigint DEFAULT 0 NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    update_id integer NOT NULL,
    group_id integer NOT NULL,
    shape_id integer NOT NULL,
    cpu_m integer NOT NULL,
    memory_mib integer NOT NULL,
    spec_first integer NOT NULL,
    n_unfinished integer DEFAULT 0 NOT NULL,
    incarnation_id integer,
    retry_on integer DEFAULT 0 NOT NULL,
    state smallint NOT NULL,
    phase smallint,
    attempt smallint DEFAULT 0 NOT NULL,
    n_uncounted smallint DEFAULT 0 NOT NULL,
    n_lost smallint DEFAULT 0 NOT NULL,
    max_attempts smallint DEFAULT 1 NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    rate_card_id smallint,
    listed boolean DEFAULT false NOT NULL,
    staged boolean DEFAULT false NOT NULL,
    bad_parent boolean DEFAULT false NOT NULL,
    always_run boolean DEFAULT false NOT NULL,
    asks_more boolean DEFAULT false NOT NULL,
    crowded boolean DEFAULT false NOT NULL,
    tells_start boolean DEFAULT false NOT NULL,
    lane_id integer DEFAULT 0 NOT NULL,
    gate_set_id integer,
    lifecycle_id integer
)
WITH (fillfactor='45', autovacuum_vacuum_insert_threshold='-1', autovacuum_vacuum_threshold='200000', autovacuum_vacuum_scale_factor='0.2', autovacuum_analyze_scale_factor='0.1', autovacuum_vacuum_cost_delay='2', autovacuum_vacuum_cost_limit='1000');
ALTER TABLE weft.job OWNER TO postgres;

COMMENT ON COLUMN weft.job.retry_on IS 'bits by reason; bit 0: its retries wait as its field `retry` says';

CREATE TABLE weft.operation (
    operation_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    batch_id bigint,
    kind text NOT NULL,
    arguments jsonb DEFAULT '{}'::jsonb NOT NULL,
    state text DEFAULT 'running'::text NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    n_done bigint DEFAULT 0 NOT NULL,
    n_total bigint DEFAULT 0 NOT NULL,
    error jsonb,
    result jsonb,
    trace_id text,
    idempotency_key text,
    digest bytea,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    owner_id integer,
    project_id integer,
    CONSTRAINT operation_kind_check CHECK ((length(kind) <= 64)),
    CONSTRAINT operation_state_check CHECK ((state = ANY (ARRAY['running'::text, 'success'::text, 'failed'::text, 'cancelled'::text])))
)
WITH (fillfactor='50');
ALTER TABLE weft.operation OWNER TO postgres;

CREATE TABLE weft.app_revision (
    revision_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    for_user integer DEFAULT 0 NOT NULL,
    revision integer NOT NULL,
    digest bytea NOT NULL,
    n_bytes bigint NOT NULL,
    description jsonb NOT NULL,
    added_by integer NOT NULL,
    added_at timestamp with time zone NOT NULL,
    removed_at timestamp with time zone,
    CONSTRAINT app_revision_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT app_revision_n_bytes_check CHECK ((n_bytes > 0)),
    CONSTRAINT app_revision_name_check CHECK (((length(name) >= 1) AND (length(name) <= 80))),
    CONSTRAINT app_revision_revision_check CHECK ((revision > 0))
);
ALTER TABLE weft.app_revision OWNER TO postgres;

CREATE TABLE weft.spend_limit (
    limit_id integer NOT NULL,
    tenant_id integer NOT NULL,
    project_id integer,
    amount_max numeric,
    amount_soft_max numeric,
    on_limit text DEFAULT 'pause'::text NOT NULL,
    until timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    judged_version integer,
    stage text DEFAULT 'below'::text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp(),
    user_id integer,
    batch_id bigint,
    group_id integer,
    measure text DEFAULT 'cost'::text NOT NULL,
    near boolean DEFAULT false NOT NULL,
    owner_id integer,
    shared_project_id integer,
    CONSTRAINT limit_is_of_one CHECK (((num_nonnulls(project_id, user_id, batch_id) = 1) AND ((batch_id IS NULL) = (group_id IS NULL)))),
    CONSTRAINT spend_limit_amount_max_check CHECK (((amount_max >= (0)::numeric) AND (amount_max <= '1000000000000000'::numeric))),
    CONSTRAINT spend_limit_amount_soft_max_check CHECK (((amount_soft_max >= (0)::numeric) AND (amount_soft_max <= '1000000000000000'::numeric))),
    CONSTRAINT spend_limit_measure_check CHECK ((measure = ANY (ARRAY['cost'::text, 'cpu'::text, 'memory'::text, 'storage'::text, 'gpu'::text]))),
    CONSTRAINT spend_limit_on_limit_check CHECK ((on_limit = ANY (ARRAY['pause'::text, 'cancel'::text]))),
    CONSTRAINT spend_limit_stage_check CHECK ((stage = ANY (ARRAY['below'::text, 'slowed'::text, 'reached'::text])))
);
ALTER TABLE weft.spend_limit OWNER TO postgres;

CREATE TABLE weft.reservation (
    incarnation_id integer NOT NULL,
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    user_id integer NOT NULL,
    reserved_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    fill_until timestamp with time zone
);
ALTER TABLE weft.reservation OWNER TO postgres;

CREATE TABLE weft.worker_incarnation (
    incarnation_id integer NOT NULL,
    worker_id integer NOT NULL,
    pool_id integer NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    cpu_m bigint NOT NULL,
    memory_mib bigint NOT NULL,
    storage_mib bigint NOT NULL,
    gpu integer NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    heartbeat_at timestamp with time zone NOT NULL,
    waiting boolean DEFAULT false NOT NULL,
    takes boolean DEFAULT false NOT NULL,
    draining boolean DEFAULT false NOT NULL,
    ended_at timestamp with time zone,
    offers jsonb,
    log_place text,
    log_directory text,
    cordoned boolean DEFAULT false NOT NULL,
    trying boolean DEFAULT false NOT NULL,
    token_id bigint,
    outlives boolean DEFAULT false NOT NULL,
    avoided jsonb,
    CONSTRAINT worker_incarnation_avoided_check CHECK ((jsonb_array_length(avoided) <= 100)),
    CONSTRAINT worker_incarnation_cpu_m_check CHECK ((cpu_m > 0)),
    CONSTRAINT worker_incarnation_gpu_check CHECK ((gpu >= 0)),
    CONSTRAINT worker_incarnation_log_directory_check CHECK ((length(log_directory) <= 4096)),
    CONSTRAINT worker_incarnation_log_place_check CHECK ((length(log_place) <= 64)),
    CONSTRAINT worker_incarnation_memory_mib_check CHECK ((memory_mib > 0)),
    CONSTRAINT worker_incarnation_storage_mib_check CHECK ((storage_mib >= 0))
)
WITH (fillfactor='50');
ALTER TABLE weft.worker_incarnation OWNER TO postgres;

CREATE TABLE weft.condition (
    condition_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    kind text NOT NULL,
    tester text NOT NULL,
    parameters jsonb NOT NULL,
    digest text NOT NULL,
    since timestamp with time zone NOT NULL,
    next_test_at timestamp with time zone NOT NULL,
    tested_at timestamp with time zone,
    passed boolean,
    message text,
    n_jobs bigint DEFAULT 0 NOT NULL,
    allowance integer DEFAULT 10 NOT NULL,
    n_going bigint DEFAULT 0 NOT NULL,
    rising boolean DEFAULT false NOT NULL,
    found_out_ms integer DEFAULT 0 NOT NULL,
    failed_by text,
    transport text,
    CONSTRAINT condition_allowance_check CHECK ((allowance > 0)),
    CONSTRAINT condition_kind_check CHECK (((length(kind) >= 1) AND (length(kind) <= 64))),
    CONSTRAINT condition_n_going_check CHECK ((n_going >= 0)),
    CONSTRAINT condition_tester_check CHECK (((length(tester) >= 1) AND (length(tester) <= 64)))
);
ALTER TABLE weft.condition OWNER TO postgres;

CREATE TABLE weft.job_delta (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    batch_id bigint NOT NULL,
    usage_ms bigint DEFAULT 0 NOT NULL,
    tenant_id integer NOT NULL,
    group_id integer NOT NULL,
    shape_id integer NOT NULL,
    pool_id integer NOT NULL,
    usage_on date,
    n_pending integer DEFAULT 0 NOT NULL,
    n_ready integer DEFAULT 0 NOT NULL,
    n_queued integer DEFAULT 0 NOT NULL,
    n_creating integer DEFAULT 0 NOT NULL,
    n_running integer DEFAULT 0 NOT NULL,
    n_blocked integer DEFAULT 0 NOT NULL,
    n_succeeded integer DEFAULT 0 NOT NULL,
    n_failed integer DEFAULT 0 NOT NULL,
    n_errored integer DEFAULT 0 NOT NULL,
    n_cancelled integer DEFAULT 0 NOT NULL,
    rate_card_id smallint,
    last_ended_at timestamp with time zone,
    stored_bytes bigint DEFAULT 0 NOT NULL
);
ALTER TABLE weft.job_delta OWNER TO postgres;

CREATE TABLE weft.dead_message (
    dead_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    transport text NOT NULL,
    source text NOT NULL,
    queue text,
    reason text NOT NULL,
    error text,
    kept_at timestamp with time zone NOT NULL,
    body bytea NOT NULL,
    n_bytes bigint NOT NULL,
    resend_at timestamp with time zone,
    acknowledged jsonb,
    CONSTRAINT dead_message_body_check CHECK ((octet_length(body) <= 65536)),
    CONSTRAINT dead_message_check CHECK ((n_bytes >= octet_length(body))),
    CONSTRAINT dead_message_error_check CHECK ((length(error) <= 4000)),
    CONSTRAINT dead_message_reason_check CHECK ((reason = ANY (ARRAY['refused'::text, 'unroutable'::text, 'rejected'::text, 'expired'::text, 'full'::text, 'undelivered'::text]))),
    CONSTRAINT dead_message_source_check CHECK ((length(source) <= 500))
);
ALTER TABLE weft.dead_message OWNER TO postgres;

CREATE TABLE weft.callback_delivery (
    delivery_id bigint NOT NULL,
    kind text DEFAULT 'callback'::text NOT NULL,
    name uuid DEFAULT gen_random_uuid() NOT NULL,
    batch_id bigint NOT NULL,
    group_id integer,
    completion integer,
    job_id integer,
    sink_id integer,
    file text DEFAULT ''::text NOT NULL,
    subscription_id bigint,
    event_key text,
    order_key text,
    tenant_id integer NOT NULL,
    url text NOT NULL,
    host text NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    n_attempts integer DEFAULT 0 NOT NULL,
    next_at timestamp with time zone,
    tried_at timestamp with time zone,
    delivered_at timestamp with time zone,
    last_status integer,
    last_error text,
    behind boolean DEFAULT false NOT NULL,
    held text,
    CONSTRAINT callback_delivery_check CHECK ((((kind = 'callback'::text) = (group_id IS NOT NULL)) AND ((group_id IS NULL) = (completion IS NULL)))),
    CONSTRAINT callback_delivery_check1 CHECK ((((kind = 'message'::text) = (job_id IS NOT NULL)) AND ((job_id IS NULL) = (sink_id IS NULL)))),
    CONSTRAINT callback_delivery_check2 CHECK ((((kind = 'notice'::text) = (subscription_id IS NOT NULL)) AND ((subscription_id IS NULL) = (event_key IS NULL)))),
    CONSTRAINT callback_delivery_held_check CHECK ((held = ANY (ARRAY['held'::text, 'passed'::text, 'dropped'::text]))),
    CONSTRAINT callback_delivery_kind_check CHECK ((kind = ANY (ARRAY['callback'::text, 'message'::text, 'notice'::text]))),
    CONSTRAINT callback_delivery_last_error_check CHECK ((length(last_error) <= 1024))
);
ALTER TABLE weft.callback_delivery OWNER TO postgres;

CREATE TABLE weft.billing_project (
    project_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    closed_at timestamp with time zone,
    deleted_at timestamp with time zone,
    idempotency_key text,
    name_key text GENERATED ALWAYS AS (weft._name_key(name)) STORED NOT NULL,
    CONSTRAINT billing_project_is_closed_before CHECK (((deleted_at IS NULL) OR (closed_at IS NOT NULL))),
    CONSTRAINT billing_project_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256)))
);
ALTER TABLE weft.billing_project OWNER TO postgres;

CREATE TABLE weft.pool (
    pool_id integer NOT NULL,
    name text NOT NULL,
    plan jsonb,
    serves_tenant_id integer,
    CONSTRAINT pool_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256)))
);
ALTER TABLE weft.pool OWNER TO postgres;

CREATE TABLE weft.source_item (
    source_id integer NOT NULL,
    n bigint NOT NULL,
    tenant_id integer NOT NULL,
    key text NOT NULL,
    fields jsonb,
    found_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    due_at timestamp with time zone,
    reason text,
    document jsonb,
    parameters jsonb,
    batch_id bigint,
    job_id integer,
    series text,
    series_at numeric,
    series_from numeric,
    left_over jsonb,
    late boolean DEFAULT false NOT NULL,
    CONSTRAINT source_item_has_document CHECK (((document IS NOT NULL) = (state = 'ready'::text))),
    CONSTRAINT source_item_has_job CHECK (((state <> 'job'::text) OR ((batch_id IS NOT NULL) AND (job_id IS NOT NULL)))),
    CONSTRAINT source_item_is_due_while_it_waits CHECK (((due_at IS NOT NULL) = (state = ANY (ARRAY['new'::text, 'waiting'::text])))),
    CONSTRAINT source_item_key_check CHECK (((length(key) >= 1) AND (length(key) <= 256))),
    CONSTRAINT source_item_reason_check CHECK ((length(reason) <= 1024)),
    CONSTRAINT source_item_says_why CHECK (((state <> ALL (ARRAY['waiting'::text, 'cancelled'::text, 'refused'::text])) OR (reason IS NOT NULL))),
    CONSTRAINT source_item_series_check CHECK ((length(series) <= 256)),
    CONSTRAINT source_item_stands_in_its_series CHECK ((num_nulls(series, series_at, series_from) = ANY (ARRAY[0, 3]))),
    CONSTRAINT source_item_state_check CHECK ((state = ANY (ARRAY['new'::text, 'waiting'::text, 'ready'::text, 'job'::text, 'cancelled'::text, 'refused'::text])))
)
WITH (fillfactor='70');
ALTER TABLE weft.source_item OWNER TO postgres;

CREATE TABLE weft.batch (
    batch_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    project_id integer NOT NULL,
    queue_id integer NOT NULL,
    name text,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    callback text,
    cancel_after_n_failures integer,
    max_running integer,
    trace_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    idempotency_key text,
    digest bytea,
    has_edges boolean DEFAULT false NOT NULL,
    next_update integer DEFAULT 1 NOT NULL,
    next_job integer DEFAULT 1 NOT NULL,
    next_group integer DEFAULT 1 NOT NULL,
    deleted_at timestamp with time zone,
    removing boolean DEFAULT false NOT NULL,
    gate_set_id integer DEFAULT 0 NOT NULL,
    gated boolean DEFAULT false NOT NULL,
    hidden boolean DEFAULT false NOT NULL,
    resubmitted_from bigint,
    bytes_counted boolean DEFAULT false NOT NULL,
    door text,
    foreign_trace text,
    foreign_id text,
    foreign_document jsonb,
    foreign_kind text,
    lifecycle_id integer,
    sink_id integer,
    more_sinks integer[],
    has_products boolean DEFAULT false NOT NULL,
    unique_key text,
    extended_at timestamp with time zone,
    replaces bigint,
    CONSTRAINT batch_cancel_after_n_failures_check CHECK ((cancel_after_n_failures > 0)),
    CONSTRAINT batch_door_check CHECK ((length(door) <= 32)),
    CONSTRAINT batch_foreign_document_check CHECK ((length((foreign_document)::text) <= 262144)),
    CONSTRAINT batch_foreign_id_check CHECK ((length(foreign_id) <= 64)),
    CONSTRAINT batch_foreign_kind_check CHECK ((length(foreign_kind) <= 1024)),
    CONSTRAINT batch_foreign_trace_check CHECK ((length(foreign_trace) <= 100)),
    CONSTRAINT batch_max_running_check CHECK ((max_running > 0)),
    CONSTRAINT batch_name_check CHECK ((length(name) <= 1024)),
    CONSTRAINT batch_unique_key_check CHECK ((length(unique_key) <= 255))
)
WITH (fillfactor='80');
ALTER TABLE weft.batch OWNER TO postgres;

CREATE TABLE weft.gate (
    gate_id integer NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    batch_id bigint,
    max_places integer,
    opens_at timestamp with time zone,
    n_taken integer DEFAULT 0 NOT NULL,
    limited_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    max_ever integer,
    CONSTRAINT gate_max_places_check CHECK ((max_places >= 0))
)
WITH (fillfactor='50');
ALTER TABLE weft.gate OWNER TO postgres;

CREATE TABLE weft.attempt_watch (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    attempt smallint NOT NULL,
    tenant_id integer NOT NULL,
    incarnation_id integer NOT NULL,
    phase smallint NOT NULL,
    since timestamp with time zone NOT NULL,
    silent_since timestamp with time zone,
    due_at timestamp with time zone
);
ALTER TABLE weft.attempt_watch OWNER TO postgres;

CREATE TABLE weft.parameter_version (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    type text NOT NULL,
    value jsonb NOT NULL,
    set_at timestamp with time zone NOT NULL,
    set_by text NOT NULL,
    setup text,
    CONSTRAINT parameter_version_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64))),
    CONSTRAINT parameter_version_type_check CHECK ((type = ANY (ARRAY['text'::text, 'integer'::text, 'number'::text, 'boolean'::text, 'date'::text, 'list'::text]))),
    CONSTRAINT parameter_version_value_check CHECK ((length((value)::text) <= 16384)),
    CONSTRAINT parameter_version_version_check CHECK ((version > 0))
);
ALTER TABLE weft.parameter_version OWNER TO postgres;

CREATE TABLE weft.source (
    source_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    setup text NOT NULL,
    user_id integer NOT NULL,
    billing_project text NOT NULL,
    lifecycle text,
    kind text NOT NULL,
    options jsonb NOT NULL,
    every_s double precision NOT NULL,
    template jsonb NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    cursor jsonb,
    next_at timestamp with time zone,
    read_at timestamp with time zone,
    n_failures integer DEFAULT 0 NOT NULL,
    failed_since timestamp with time zone,
    error text,
    paused_at timestamp with time zone,
    ended_at timestamp with time zone,
    last_n bigint DEFAULT 0 NOT NULL,
    work_at timestamp with time zone,
    taken_until timestamp with time zone,
    taken_at timestamp with time zone,
    n_taken bigint DEFAULT 0 NOT NULL,
    work_error text,
    bunch integer DEFAULT 0 NOT NULL,
    batch_id bigint,
    batch_day date,
    CONSTRAINT source_every_s_check CHECK ((every_s > (0)::double precision)),
    CONSTRAINT source_failure_has_date CHECK (((failed_since IS NULL) = (error IS NULL))),
    CONSTRAINT source_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64))),
    CONSTRAINT source_reads_unless_stopped CHECK (((next_at IS NULL) = ((paused_at IS NOT NULL) OR (ended_at IS NOT NULL))))
)
WITH (fillfactor='70');
ALTER TABLE weft.source OWNER TO postgres;

CREATE TABLE weft.attempt (
    batch_id bigint NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    cpu_ms bigint NOT NULL,
    memory_peak_bytes bigint NOT NULL,
    stdout_bytes bigint NOT NULL,
    stderr_bytes bigint NOT NULL,
    log_offset bigint,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    incarnation_id integer NOT NULL,
    shape_id integer NOT NULL,
    exit_code integer,
    log_segment integer,
    attempt smallint NOT NULL,
    state smallint NOT NULL,
    reason smallint,
    signal smallint,
    rate_card_id smallint NOT NULL,
    truncated boolean NOT NULL,
    message text
)
WITH (autovacuum_vacuum_cost_delay='2', autovacuum_vacuum_cost_limit='1000');
ALTER TABLE weft.attempt OWNER TO postgres;

CREATE TABLE weft.schedule (
    schedule_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    name text,
    billing_project text NOT NULL,
    cron text NOT NULL,
    time_zone text NOT NULL,
    missed text NOT NULL,
    document text NOT NULL,
    next_at timestamp with time zone,
    paused_at timestamp with time zone,
    pause_reason text,
    n_failures integer DEFAULT 0 NOT NULL,
    n_missed bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    idempotency_key text,
    digest bytea NOT NULL,
    project_id integer,
    CONSTRAINT schedule_cron_check CHECK ((length(cron) <= 200)),
    CONSTRAINT schedule_missed_check CHECK ((missed = ANY (ARRAY['skip'::text, 'last'::text, 'all'::text]))),
    CONSTRAINT schedule_name_check CHECK ((length(name) <= 1024)),
    CONSTRAINT schedule_pause_has_reason CHECK (((paused_at IS NULL) = (pause_reason IS NULL))),
    CONSTRAINT schedule_pause_reason_check CHECK ((pause_reason = ANY (ARRAY['user'::text, 'failures'::text, 'over'::text]))),
    CONSTRAINT schedule_paused_or_next CHECK (((paused_at IS NULL) = (next_at IS NOT NULL))),
    CONSTRAINT schedule_time_zone_check CHECK ((length(time_zone) <= 100))
);
ALTER TABLE weft.schedule OWNER TO postgres;

CREATE TABLE weft.schedule_run (
    schedule_id bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    tenant_id integer NOT NULL,
    by_hand boolean DEFAULT false NOT NULL,
    taken_until timestamp with time zone,
    ended_at timestamp with time zone,
    batch_id bigint,
    error jsonb,
    CONSTRAINT schedule_run_end_has_result CHECK (((ended_at IS NULL) = ((batch_id IS NULL) AND (error IS NULL))))
);
ALTER TABLE weft.schedule_run OWNER TO postgres;

CREATE TABLE weft.secret (
    user_id integer NOT NULL,
    name text NOT NULL,
    tenant_id integer NOT NULL,
    body bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT secret_body_check CHECK (((length(body) >= 37) AND (length(body) <= 2097152))),
    CONSTRAINT secret_name_check CHECK ((name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,62}$'::text))
);
ALTER TABLE ONLY weft.secret ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE weft.secret OWNER TO postgres;

CREATE TABLE weft.parent_share (
    batch_id bigint NOT NULL,
    child_id integer NOT NULL,
    need smallint NOT NULL,
    tenant_id integer NOT NULL,
    n_jobs integer NOT NULL,
    n_needed integer NOT NULL,
    n_succeeded integer NOT NULL,
    n_failed integer NOT NULL,
    first_parent integer NOT NULL,
    last_parent integer NOT NULL
);
ALTER TABLE weft.parent_share OWNER TO postgres;

CREATE TABLE weft.blocked_job (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    blocked_at timestamp with time zone NOT NULL,
    next_at timestamp with time zone NOT NULL,
    condition_id bigint,
    n_tests integer DEFAULT 0 NOT NULL
);
ALTER TABLE weft.blocked_job OWNER TO postgres;

CREATE TABLE weft.file_store (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    endpoint text,
    region text,
    access text NOT NULL,
    credentials text NOT NULL,
    secret_name text,
    set_by integer NOT NULL,
    set_at timestamp with time zone NOT NULL,
    CONSTRAINT file_store_access_check CHECK ((access = ANY (ARRAY['read'::text, 'write'::text]))),
    CONSTRAINT file_store_check CHECK (((credentials = 'secret'::text) = (secret_name IS NOT NULL))),
    CONSTRAINT file_store_credentials_check CHECK ((credentials = ANY (ARRAY['secret'::text, 'env'::text, 'instance-role'::text]))),
    CONSTRAINT file_store_endpoint_check CHECK ((length(endpoint) <= 2048)),
    CONSTRAINT file_store_name_check CHECK ((name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,62}$'::text)),
    CONSTRAINT file_store_region_check CHECK ((length(region) <= 64)),
    CONSTRAINT file_store_secret_name_check CHECK ((length(secret_name) <= 63)),
    CONSTRAINT file_store_url_check CHECK (((length(url) >= 1) AND (length(url) <= 1100)))
);
ALTER TABLE weft.file_store OWNER TO postgres;

CREATE TABLE weft.tenant (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    on_user_removal text DEFAULT 'finish'::text NOT NULL,
    allowed jsonb DEFAULT '{}'::jsonb NOT NULL,
    name_key text GENERATED ALWAYS AS (weft._name_key(name)) STORED NOT NULL,
    output_keep_s bigint DEFAULT 0 NOT NULL,
    output_keep_bytes bigint DEFAULT 0 NOT NULL,
    output_removed_to timestamp with time zone,
    CONSTRAINT tenant_allowed_check CHECK (((jsonb_typeof(allowed) = 'object'::text) AND (pg_column_size(allowed) < 1000000))),
    CONSTRAINT tenant_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT tenant_on_user_removal_check CHECK ((on_user_removal = ANY (ARRAY['finish'::text, 'cancel'::text]))),
    CONSTRAINT tenant_output_keep_bytes_check CHECK ((output_keep_bytes >= 0)),
    CONSTRAINT tenant_output_keep_s_check CHECK ((output_keep_s >= 0))
);
ALTER TABLE weft.tenant OWNER TO postgres;

CREATE TABLE weft.token (
    token_hash bytea NOT NULL,
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    token_id bigint NOT NULL,
    name text DEFAULT 'home'::text NOT NULL,
    scopes text[],
    last_used_at timestamp with time zone,
    idempotency_key text,
    kind text DEFAULT 'token'::text NOT NULL,
    opened_from text,
    made_by bigint,
    session_ends_at timestamp with time zone,
    pool text,
    worker_names text,
    CONSTRAINT token_kind_check CHECK ((kind = ANY (ARRAY['token'::text, 'code'::text, 'session'::text, 'machine'::text, 'invitation'::text, 'answer'::text]))),
    CONSTRAINT token_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT token_of_a_browser_expires CHECK (((kind = 'token'::text) OR (expires_at IS NOT NULL))),
    CONSTRAINT token_of_a_worker_is_for_work CHECK ((((pool IS NOT NULL) = ((scopes IS NOT NULL) AND ('work'::text = ANY (scopes)))) AND ((pool IS NULL) = (worker_names IS NULL)) AND ((pool IS NULL) OR (cardinality(scopes) = 1)))),
    CONSTRAINT token_opened_from_check CHECK ((length(opened_from) <= 256)),
    CONSTRAINT token_pool_check CHECK ((length(pool) <= 256)),
    CONSTRAINT token_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['read'::text, 'write'::text, 'exec'::text, 'operate'::text, 'manage'::text, 'administer'::text, 'work'::text]))),
    CONSTRAINT token_worker_names_check CHECK ((length(worker_names) <= 256))
);
ALTER TABLE weft.token OWNER TO postgres;

CREATE TABLE weft.trail_entry (
    number bigint NOT NULL,
    request_id uuid NOT NULL,
    tenant_id integer,
    user_id integer,
    user_name text,
    token_id bigint,
    address text,
    trace_id text NOT NULL,
    action text NOT NULL,
    path text NOT NULL,
    batch_id bigint,
    refused text,
    at timestamp with time zone NOT NULL,
    sealed_at timestamp with time zone NOT NULL,
    digest bytea NOT NULL,
    times integer,
    CONSTRAINT trail_entry_path_check CHECK ((length(path) <= 1000)),
    CONSTRAINT trail_entry_times_check CHECK ((times > 1))
);
ALTER TABLE weft.trail_entry OWNER TO postgres;

CREATE TABLE weft.tenant_user (
    user_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    weight integer DEFAULT 1 NOT NULL,
    weight_until timestamp with time zone,
    role text DEFAULT 'user'::text NOT NULL,
    removed_at timestamp with time zone,
    name_key text GENERATED ALWAYS AS (weft._name_key(name)) STORED NOT NULL,
    CONSTRAINT tenant_user_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT tenant_user_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'user'::text, 'operator'::text, 'tenant-admin'::text, 'admin'::text, 'worker'::text]))),
    CONSTRAINT tenant_user_weight_check CHECK ((weight > 0))
);
ALTER TABLE weft.tenant_user OWNER TO postgres;

CREATE TABLE weft.worker (
    worker_id integer NOT NULL,
    pool_id integer NOT NULL,
    name text NOT NULL,
    host text NOT NULL,
    cordoned_at timestamp with time zone,
    cordoned_by text,
    cordon_reason text,
    draining boolean DEFAULT false NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT worker_cordon_reason_check CHECK ((length(cordon_reason) <= 1000)),
    CONSTRAINT worker_cordoned_by_check CHECK ((length(cordoned_by) <= 300)),
    CONSTRAINT worker_draining_check CHECK (((NOT draining) OR (cordoned_at IS NOT NULL))),
    CONSTRAINT worker_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256)))
);
ALTER TABLE weft.worker OWNER TO postgres;

CREATE TABLE weft.admission (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    limit_id integer NOT NULL,
    attempt smallint NOT NULL,
    tenant_id integer NOT NULL,
    used_per_hour numeric NOT NULL,
    admitted_at timestamp with time zone NOT NULL,
    open boolean DEFAULT true NOT NULL
);
ALTER TABLE weft.admission OWNER TO postgres;

CREATE TABLE weft.answered_request (
    user_id integer NOT NULL,
    idempotency_key text NOT NULL,
    tenant_id integer NOT NULL,
    digest bytea NOT NULL,
    answer jsonb NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE weft.answered_request OWNER TO postgres;

CREATE TABLE weft.app_part (
    tenant_id integer NOT NULL,
    digest bytea NOT NULL,
    part integer NOT NULL,
    n_bytes bigint NOT NULL,
    body bytea NOT NULL,
    user_id integer NOT NULL,
    added_at timestamp with time zone NOT NULL,
    CONSTRAINT app_part_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT app_part_n_bytes_check CHECK ((n_bytes > 0)),
    CONSTRAINT app_part_part_check CHECK ((part > 0))
);
ALTER TABLE ONLY weft.app_part ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE weft.app_part OWNER TO postgres;

ALTER TABLE weft.app_revision ALTER COLUMN revision_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.app_revision_revision_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.app_use (
    batch_id bigint NOT NULL,
    revision_id bigint NOT NULL,
    tenant_id integer NOT NULL
);
ALTER TABLE weft.app_use OWNER TO postgres;

CREATE TABLE weft.attempt_note (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    attempt smallint NOT NULL,
    phase smallint NOT NULL,
    tenant_id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    message text NOT NULL,
    percent real,
    CONSTRAINT attempt_note_is_progress CHECK ((((phase = 0) = (percent IS NOT NULL)) AND ((percent >= (0)::double precision) AND (percent <= (100)::double precision)))),
    CONSTRAINT attempt_note_is_short CHECK (((length(message) <= 300) AND ((message <> ''::text) OR (phase = 0))))
);
ALTER TABLE weft.attempt_note OWNER TO postgres;

CREATE TABLE weft.attempt_reason (
    reason smallint NOT NULL,
    word text NOT NULL
);
ALTER TABLE weft.attempt_reason OWNER TO postgres;

CREATE TABLE weft.attempt_staging (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    attempt smallint NOT NULL,
    tenant_id integer NOT NULL,
    staging_ms integer NOT NULL,
    storing_ms integer NOT NULL,
    CONSTRAINT attempt_staging_staging_ms_check CHECK ((staging_ms >= 0)),
    CONSTRAINT attempt_staging_storing_ms_check CHECK ((storing_ms >= 0))
);
ALTER TABLE weft.attempt_staging OWNER TO postgres;

CREATE TABLE weft.attempt_stop (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    attempt smallint NOT NULL,
    tenant_id integer NOT NULL,
    incarnation_id integer NOT NULL,
    final boolean NOT NULL,
    gone boolean DEFAULT false NOT NULL,
    due_at timestamp with time zone NOT NULL
);
ALTER TABLE weft.attempt_stop OWNER TO postgres;

ALTER TABLE weft.batch ALTER COLUMN batch_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.batch_batch_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.batch_grant (
    batch_id bigint NOT NULL,
    user_id integer NOT NULL,
    tenant_id integer NOT NULL,
    permission smallint NOT NULL,
    granted_by text NOT NULL,
    granted_at timestamp with time zone NOT NULL,
    job_id integer DEFAULT 0 NOT NULL,
    CONSTRAINT batch_grant_permission_check CHECK (((permission >= 1) AND (permission <= 4)))
);
ALTER TABLE weft.batch_grant OWNER TO postgres;

CREATE TABLE weft.batch_payload (
    batch_id bigint NOT NULL,
    digest bytea NOT NULL,
    part integer NOT NULL,
    tenant_id integer NOT NULL,
    n_bytes bigint NOT NULL,
    body bytea NOT NULL,
    CONSTRAINT batch_payload_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT batch_payload_n_bytes_check CHECK ((n_bytes > 0)),
    CONSTRAINT batch_payload_part_check CHECK ((part > 0))
);
ALTER TABLE ONLY weft.batch_payload ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE weft.batch_payload OWNER TO postgres;

CREATE TABLE weft.batch_storage (
    batch_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    n_bytes bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.batch_storage OWNER TO postgres;

CREATE TABLE weft.batch_usage (
    batch_id bigint NOT NULL,
    usage_on date NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id integer NOT NULL,
    project_id integer NOT NULL,
    tenant_id integer NOT NULL,
    usage_ms bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.batch_usage OWNER TO postgres;

CREATE TABLE weft.billing_member (
    project_id integer NOT NULL,
    user_id integer NOT NULL,
    tenant_id integer NOT NULL
);
ALTER TABLE weft.billing_member OWNER TO postgres;

ALTER TABLE weft.billing_project ALTER COLUMN project_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.billing_project_project_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.black_hole (
    worker_id integer NOT NULL,
    n_tries integer DEFAULT 0 NOT NULL,
    try_at timestamp with time zone NOT NULL,
    try_batch_id bigint,
    try_job_id integer,
    try_attempt smallint,
    CONSTRAINT black_hole_job_check CHECK ((((try_batch_id IS NULL) = (try_job_id IS NULL)) AND ((try_batch_id IS NULL) = (try_attempt IS NULL))))
);
ALTER TABLE weft.black_hole OWNER TO postgres;

CREATE TABLE weft.block_request (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    attempt smallint NOT NULL,
    tenant_id integer NOT NULL,
    kind text NOT NULL,
    tester text NOT NULL,
    parameters jsonb NOT NULL
);
ALTER TABLE weft.block_request OWNER TO postgres;

CREATE TABLE weft.bunch_count (
    batch_id bigint NOT NULL,
    update_id integer NOT NULL,
    first_job integer NOT NULL,
    group_id integer NOT NULL,
    shape_id integer NOT NULL,
    tenant_id integer NOT NULL,
    n_pending integer NOT NULL,
    n_ready integer NOT NULL
);
ALTER TABLE weft.bunch_count OWNER TO postgres;

ALTER TABLE weft.callback_delivery ALTER COLUMN delivery_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.callback_delivery_delivery_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.cascade (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    next_child integer DEFAULT 0 NOT NULL
);
ALTER TABLE weft.cascade OWNER TO postgres;

CREATE TABLE weft.claim (
    incarnation_id integer NOT NULL,
    claim_id bigint NOT NULL,
    batch_id bigint NOT NULL,
    jobs integer[] NOT NULL,
    call bigint,
    lane_id integer
);
ALTER TABLE ONLY weft.claim ALTER COLUMN jobs SET STORAGE EXTERNAL;
ALTER TABLE weft.claim OWNER TO postgres;

ALTER TABLE weft.claim ALTER COLUMN claim_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.claim_claim_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.condition_batch (
    batch_id bigint NOT NULL,
    condition_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    owner_id integer NOT NULL,
    project_id integer NOT NULL,
    n_waiting integer DEFAULT 0 NOT NULL
);
ALTER TABLE weft.condition_batch OWNER TO postgres;

ALTER TABLE weft.condition ALTER COLUMN condition_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.condition_condition_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.condition_delta (
    condition_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    n integer NOT NULL
);
ALTER TABLE weft.condition_delta OWNER TO postgres;

CREATE TABLE weft.core_sweep (
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    pass text DEFAULT 'hide'::text NOT NULL,
    next_batch bigint DEFAULT 0 NOT NULL,
    last_job integer DEFAULT 0 NOT NULL,
    stepped_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    done_at timestamp with time zone,
    CONSTRAINT core_sweep_pass_check CHECK ((pass = ANY (ARRAY['hide'::text, 'gate'::text, 'show'::text])))
);
ALTER TABLE weft.core_sweep OWNER TO postgres;

CREATE TABLE weft.dead_letter (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    cause_id bigint NOT NULL,
    failed_at timestamp with time zone NOT NULL,
    acknowledged boolean DEFAULT false NOT NULL
);
ALTER TABLE weft.dead_letter OWNER TO postgres;

ALTER TABLE weft.dead_message ALTER COLUMN dead_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.dead_message_dead_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.driver_state (
    one_row boolean DEFAULT true NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    waiting boolean DEFAULT false NOT NULL,
    heard_at timestamp with time zone DEFAULT now() NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT driver_state_one_row_check CHECK (one_row),
    CONSTRAINT driver_state_settings_check CHECK ((jsonb_typeof(settings) = 'object'::text))
)
WITH (fillfactor='10');
ALTER TABLE weft.driver_state OWNER TO postgres;

CREATE TABLE weft.edge (
    batch_id bigint NOT NULL,
    parent_id integer NOT NULL,
    child_id integer NOT NULL,
    tenant_id integer NOT NULL,
    need smallint,
    CONSTRAINT parent_below_child CHECK ((parent_id < child_id))
)
WITH (autovacuum_vacuum_cost_delay='2', autovacuum_vacuum_cost_limit='1000');
ALTER TABLE weft.edge OWNER TO postgres;

CREATE TABLE weft.empty_batch (
    batch_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE weft.empty_batch OWNER TO postgres;

CREATE TABLE weft.event (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    event_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    kind text NOT NULL,
    from_state smallint,
    to_state smallint,
    jobs integer[] DEFAULT '{}'::integer[] NOT NULL,
    groups integer[] DEFAULT '{}'::integer[] NOT NULL,
    trace_id text,
    detail jsonb
)
WITH (autovacuum_vacuum_cost_delay='2', autovacuum_vacuum_cost_limit='1000');
ALTER TABLE ONLY weft.event ALTER COLUMN jobs SET STORAGE EXTERNAL;
ALTER TABLE weft.event OWNER TO postgres;

ALTER TABLE weft.event ALTER COLUMN event_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.event_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.event_floor (
    one_row boolean DEFAULT true NOT NULL,
    xid xid8 NOT NULL,
    event_id bigint NOT NULL,
    CONSTRAINT event_floor_one_row_check CHECK (one_row)
);
ALTER TABLE weft.event_floor OWNER TO postgres;

CREATE TABLE weft.event_listener (
    listener_id uuid NOT NULL,
    waiting boolean NOT NULL,
    seen_at timestamp with time zone NOT NULL
)
WITH (fillfactor='10');
ALTER TABLE weft.event_listener OWNER TO postgres;

CREATE TABLE weft.event_reader (
    reader text NOT NULL,
    tenant_id integer,
    xid xid8 NOT NULL,
    event_id bigint NOT NULL
);
ALTER TABLE weft.event_reader OWNER TO postgres;

CREATE TABLE weft.failure_cause (
    batch_id bigint NOT NULL,
    cause_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    reason smallint,
    exit_code integer,
    signal smallint,
    message text,
    n_jobs bigint NOT NULL,
    n_acknowledged bigint NOT NULL,
    failed_at timestamp with time zone,
    owner_id integer,
    project_id integer
);
ALTER TABLE weft.failure_cause OWNER TO postgres;

CREATE TABLE weft.failure_count (
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    tenant_id integer NOT NULL,
    n_failures integer DEFAULT 0 NOT NULL,
    n_failures_max integer NOT NULL,
    lifted_at timestamp with time zone
)
WITH (fillfactor='50');
ALTER TABLE weft.failure_count OWNER TO postgres;

CREATE TABLE weft.failure_delta (
    batch_id bigint NOT NULL,
    cause_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    reason smallint,
    exit_code integer,
    signal smallint,
    message text,
    n_jobs bigint NOT NULL,
    n_acknowledged bigint DEFAULT 0 NOT NULL,
    failed_at timestamp with time zone
);
ALTER TABLE weft.failure_delta OWNER TO postgres;

CREATE TABLE weft.fold (
    one_row boolean DEFAULT true NOT NULL,
    upto pg_snapshot NOT NULL,
    CONSTRAINT fold_one_row_check CHECK (one_row)
)
WITH (fillfactor='10');
ALTER TABLE weft.fold OWNER TO postgres;

CREATE TABLE weft.foreign_count (
    tenant_id integer NOT NULL,
    door text NOT NULL,
    user_id integer NOT NULL,
    state smallint,
    n bigint NOT NULL
);
ALTER TABLE weft.foreign_count OWNER TO postgres;

CREATE TABLE weft.foreign_state (
    batch_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    door text NOT NULL,
    state smallint NOT NULL,
    changed_at timestamp with time zone NOT NULL
);
ALTER TABLE weft.foreign_state OWNER TO postgres;

ALTER TABLE weft.gate ALTER COLUMN gate_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.gate_gate_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.gate_member (
    gate_id integer NOT NULL,
    gate_set_id integer NOT NULL,
    batch_id bigint,
    cost integer DEFAULT 1 NOT NULL,
    CONSTRAINT gate_member_cost_check CHECK ((cost > 0))
);
ALTER TABLE weft.gate_member OWNER TO postgres;

CREATE TABLE weft.gate_note (
    note_id bigint NOT NULL,
    gate_id integer NOT NULL,
    n_freed integer NOT NULL,
    max_places integer
);
ALTER TABLE weft.gate_note OWNER TO postgres;

ALTER TABLE weft.gate_note ALTER COLUMN note_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.gate_note_note_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.gate_pause (
    gate_id integer NOT NULL,
    pool_id integer NOT NULL,
    shape_id integer NOT NULL,
    until_at timestamp with time zone NOT NULL
);
ALTER TABLE weft.gate_pause OWNER TO postgres;

CREATE TABLE weft.gate_return (
    gate_id integer NOT NULL,
    due_at timestamp with time zone NOT NULL,
    n integer NOT NULL,
    CONSTRAINT gate_return_n_check CHECK ((n > 0))
);
ALTER TABLE weft.gate_return OWNER TO postgres;

CREATE TABLE weft.gate_set (
    gate_set_id integer NOT NULL,
    gate_ids integer[] NOT NULL,
    batch_id bigint
);
ALTER TABLE weft.gate_set OWNER TO postgres;

ALTER TABLE weft.gate_set ALTER COLUMN gate_set_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.gate_set_gate_set_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.group_ancestor (
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    ancestor_id integer NOT NULL,
    tenant_id integer NOT NULL
);
ALTER TABLE weft.group_ancestor OWNER TO postgres;

CREATE TABLE weft.group_bunch (
    batch_id bigint NOT NULL,
    update_id integer NOT NULL,
    idempotency_key text NOT NULL,
    tenant_id integer NOT NULL,
    digest bytea NOT NULL
);
ALTER TABLE weft.group_bunch OWNER TO postgres;

CREATE TABLE weft.group_cancel (
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    tenant_id integer NOT NULL,
    cancelled_at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    force boolean NOT NULL,
    sweep_job integer DEFAULT 0 NOT NULL,
    swept boolean DEFAULT false NOT NULL,
    user_id integer NOT NULL
);
ALTER TABLE weft.group_cancel OWNER TO postgres;

CREATE TABLE weft.group_change (
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    change_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    kind text NOT NULL,
    message text
);
ALTER TABLE weft.group_change OWNER TO postgres;

ALTER TABLE weft.group_change ALTER COLUMN change_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.group_change_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.group_completion (
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    completion integer NOT NULL,
    tenant_id integer NOT NULL,
    completed_at timestamp with time zone NOT NULL,
    owner_id integer,
    project_id integer
);
ALTER TABLE weft.group_completion OWNER TO postgres;

CREATE TABLE weft.group_count (
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    tenant_id integer NOT NULL,
    n_pending bigint DEFAULT 0 NOT NULL,
    n_ready bigint DEFAULT 0 NOT NULL,
    n_queued bigint DEFAULT 0 NOT NULL,
    n_creating bigint DEFAULT 0 NOT NULL,
    n_running bigint DEFAULT 0 NOT NULL,
    n_blocked bigint DEFAULT 0 NOT NULL,
    n_succeeded bigint DEFAULT 0 NOT NULL,
    n_failed bigint DEFAULT 0 NOT NULL,
    n_errored bigint DEFAULT 0 NOT NULL,
    n_cancelled bigint DEFAULT 0 NOT NULL,
    n_completions integer DEFAULT 0 NOT NULL,
    complete boolean DEFAULT false NOT NULL,
    last_ended_at timestamp with time zone
)
WITH (fillfactor='50');
ALTER TABLE weft.group_count OWNER TO postgres;

CREATE TABLE weft.group_hold (
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    tenant_id integer NOT NULL,
    held_at timestamp with time zone NOT NULL,
    released_at timestamp with time zone,
    sweep_job integer DEFAULT 0 NOT NULL,
    swept boolean DEFAULT false NOT NULL,
    limit_id integer DEFAULT 0 NOT NULL,
    admits boolean DEFAULT false NOT NULL
);
ALTER TABLE weft.group_hold OWNER TO postgres;

CREATE TABLE weft.group_usage (
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id integer NOT NULL,
    tenant_id integer NOT NULL,
    usage_ms bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.group_usage OWNER TO postgres;

CREATE TABLE weft.held_ready (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL
);
ALTER TABLE weft.held_ready OWNER TO postgres;

CREATE TABLE weft.job_array (
    batch_id bigint NOT NULL,
    first_job integer NOT NULL,
    tenant_id integer NOT NULL,
    n_jobs integer NOT NULL,
    first_index integer NOT NULL,
    name text,
    attributes jsonb,
    rare_fields jsonb,
    CONSTRAINT job_array_first_index_check CHECK ((first_index >= 0)),
    CONSTRAINT job_array_n_jobs_check CHECK ((n_jobs > 0)),
    CONSTRAINT job_array_name_check CHECK ((length(name) <= 1024))
);
ALTER TABLE weft.job_array OWNER TO postgres;

CREATE TABLE weft.job_cache (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    spec_key bytea NOT NULL,
    wants jsonb,
    key bytea,
    from_batch bigint,
    from_job integer
);
ALTER TABLE weft.job_cache OWNER TO postgres;

CREATE TABLE weft.job_cancel (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    cancelled_at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    late boolean DEFAULT false NOT NULL
);
ALTER TABLE weft.job_cancel OWNER TO postgres;

CREATE TABLE weft.job_change (
    change_id bigint NOT NULL,
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    from_state smallint NOT NULL,
    to_state smallint NOT NULL,
    attempt smallint,
    actor text NOT NULL,
    subtype text,
    message text
);
ALTER TABLE weft.job_change OWNER TO postgres;

ALTER TABLE weft.job_change ALTER COLUMN change_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.job_change_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.job_command (
    command_id bigint NOT NULL,
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    attempt smallint,
    incarnation_id integer,
    signal smallint,
    word text,
    extend_ms bigint,
    actor text NOT NULL,
    at timestamp with time zone NOT NULL,
    message text,
    CONSTRAINT job_command_has_attempt CHECK (((extend_ms IS NOT NULL) OR ((attempt IS NOT NULL) AND (incarnation_id IS NOT NULL)))),
    CONSTRAINT job_command_is_one CHECK ((num_nonnulls(signal, extend_ms, message) = 1))
);
ALTER TABLE weft.job_command OWNER TO postgres;

ALTER TABLE weft.job_command ALTER COLUMN command_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.job_command_command_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.job_deadline (
    batch_id bigint NOT NULL,
    first_job integer NOT NULL,
    last_job integer NOT NULL,
    tenant_id integer NOT NULL,
    latest_start timestamp with time zone NOT NULL,
    deadline timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    sweep_job integer NOT NULL,
    succeeds boolean,
    timeout interval
);
ALTER TABLE weft.job_deadline OWNER TO postgres;

CREATE TABLE weft.job_file (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    attempt smallint NOT NULL,
    path text NOT NULL,
    tenant_id integer NOT NULL,
    n_bytes bigint NOT NULL,
    digest bytea NOT NULL,
    address text,
    kept_at timestamp with time zone NOT NULL,
    message text,
    from_batch bigint,
    CONSTRAINT job_file_address_check CHECK ((length(address) <= 4096)),
    CONSTRAINT job_file_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT job_file_job_id_check CHECK ((job_id >= 0)),
    CONSTRAINT job_file_message_check CHECK ((octet_length(message) <= 65536)),
    CONSTRAINT job_file_n_bytes_check CHECK ((n_bytes >= 0)),
    CONSTRAINT job_file_path_check CHECK (((octet_length(path) >= 1) AND (octet_length(path) <= 1024)))
);
ALTER TABLE weft.job_file OWNER TO postgres;

CREATE TABLE weft.job_group (
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    tenant_id integer NOT NULL,
    parent_id integer,
    update_id integer,
    name text NOT NULL,
    path text,
    depth smallint NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    callback text,
    cancel_after_n_failures integer,
    created_at timestamp with time zone NOT NULL,
    is_set boolean DEFAULT false NOT NULL,
    hidden boolean DEFAULT false NOT NULL,
    CONSTRAINT job_group_cancel_after_n_failures_check CHECK ((cancel_after_n_failures > 0)),
    CONSTRAINT tree_group_has_path CHECK ((is_set = (path IS NULL)))
);
ALTER TABLE weft.job_group OWNER TO postgres;

CREATE TABLE weft.job_hold (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    held_at timestamp with time zone NOT NULL
);
ALTER TABLE weft.job_hold OWNER TO postgres;

CREATE TABLE weft.job_label (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text,
    attributes jsonb,
    rare_fields jsonb,
    CONSTRAINT job_label_name_check CHECK ((length(name) <= 1024))
);
ALTER TABLE weft.job_label OWNER TO postgres;

CREATE TABLE weft.job_note (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    title text NOT NULL,
    tenant_id integer NOT NULL,
    attempt smallint NOT NULL,
    kind text NOT NULL,
    told_at timestamp with time zone NOT NULL,
    body bytea NOT NULL,
    CONSTRAINT job_note_is_short CHECK ((((length(title) >= 1) AND (length(title) <= 60)) AND (octet_length(body) <= 1048576)))
);
ALTER TABLE weft.job_note OWNER TO postgres;

CREATE TABLE weft.job_spec (
    batch_id bigint NOT NULL,
    first_job integer NOT NULL,
    tenant_id integer NOT NULL,
    n_jobs integer NOT NULL,
    body bytea NOT NULL,
    CONSTRAINT job_spec_n_jobs_check CHECK ((n_jobs > 0))
)
WITH (autovacuum_vacuum_cost_delay='2', autovacuum_vacuum_cost_limit='1000');
ALTER TABLE ONLY weft.job_spec ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE weft.job_spec OWNER TO postgres;

CREATE TABLE weft.job_state (
    state smallint NOT NULL,
    word text NOT NULL
);
ALTER TABLE weft.job_state OWNER TO postgres;

CREATE TABLE weft.job_status (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    status smallint NOT NULL,
    since timestamp with time zone NOT NULL,
    n integer NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.job_status OWNER TO postgres;

CREATE TABLE weft.job_status_change (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    n integer NOT NULL,
    tenant_id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    status smallint NOT NULL,
    state smallint NOT NULL,
    forbidden boolean DEFAULT false NOT NULL,
    attempt smallint,
    actor text NOT NULL,
    subtype text,
    message text,
    CONSTRAINT job_status_change_message_check CHECK ((length(message) <= 1024))
);
ALTER TABLE weft.job_status_change OWNER TO postgres;

CREATE TABLE weft.job_transition (
    from_state smallint NOT NULL,
    to_state smallint NOT NULL
);
ALTER TABLE weft.job_transition OWNER TO postgres;

CREATE TABLE weft.lane (
    lane_id integer NOT NULL,
    asks jsonb NOT NULL,
    amounts jsonb NOT NULL,
    pool_id integer
);
ALTER TABLE weft.lane OWNER TO postgres;

ALTER TABLE weft.lane ALTER COLUMN lane_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.lane_lane_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.last_audit (
    one_row boolean DEFAULT true NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    took_ms bigint NOT NULL,
    version text NOT NULL,
    n_checks integer NOT NULL,
    wrong jsonb NOT NULL,
    CONSTRAINT last_audit_n_checks_check CHECK ((n_checks >= 0)),
    CONSTRAINT last_audit_one_row_check CHECK (one_row),
    CONSTRAINT last_audit_took_ms_check CHECK ((took_ms >= 0)),
    CONSTRAINT last_audit_version_check CHECK ((length(version) <= 64)),
    CONSTRAINT last_audit_wrong_check CHECK ((jsonb_typeof(wrong) = 'array'::text))
);
ALTER TABLE weft.last_audit OWNER TO postgres;

CREATE TABLE weft.late_job (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL
);
ALTER TABLE weft.late_job OWNER TO postgres;

CREATE TABLE weft.licence (
    name text NOT NULL,
    n integer NOT NULL,
    set_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    set_by text NOT NULL,
    CONSTRAINT licence_n_check CHECK ((n >= 0)),
    CONSTRAINT licence_name_check CHECK ((name ~ '^[a-z][a-z0-9_.-]{0,62}$'::text))
);
ALTER TABLE weft.licence OWNER TO postgres;

CREATE TABLE weft.lifecycle (
    lifecycle_id integer NOT NULL,
    tenant_id integer NOT NULL,
    setup text NOT NULL,
    name text NOT NULL,
    statuses text[] NOT NULL,
    document jsonb NOT NULL,
    limits jsonb,
    saved_at timestamp with time zone NOT NULL,
    saved_by text NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT lifecycle_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64)))
);
ALTER TABLE weft.lifecycle OWNER TO postgres;

CREATE TABLE weft.lifecycle_core (
    lifecycle_id integer NOT NULL,
    tenant_id integer NOT NULL,
    state smallint NOT NULL,
    status smallint NOT NULL,
    CONSTRAINT lifecycle_core_status_check CHECK ((status > 0))
);
ALTER TABLE weft.lifecycle_core OWNER TO postgres;

CREATE TABLE weft.lifecycle_edge (
    lifecycle_id integer NOT NULL,
    tenant_id integer NOT NULL,
    from_status smallint NOT NULL,
    to_status smallint NOT NULL,
    CONSTRAINT lifecycle_edge_to_status_check CHECK ((to_status > 0))
);
ALTER TABLE weft.lifecycle_edge OWNER TO postgres;

CREATE TABLE weft.lifecycle_exit (
    lifecycle_id integer NOT NULL,
    tenant_id integer NOT NULL,
    first_code integer NOT NULL,
    last_code integer NOT NULL,
    status smallint,
    subtype text,
    tries integer NOT NULL,
    products boolean NOT NULL,
    CONSTRAINT lifecycle_exit_tries_check CHECK ((tries > 0))
);
ALTER TABLE weft.lifecycle_exit OWNER TO postgres;

ALTER TABLE weft.lifecycle ALTER COLUMN lifecycle_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.lifecycle_lifecycle_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.lifecycle_move (
    lifecycle_id integer NOT NULL,
    tenant_id integer NOT NULL,
    state smallint NOT NULL,
    within smallint NOT NULL,
    from_status smallint NOT NULL,
    way smallint[]
);
ALTER TABLE weft.lifecycle_move OWNER TO postgres;

CREATE UNLOGGED TABLE weft.look (
    number text NOT NULL,
    incarnation_id integer NOT NULL,
    question text NOT NULL,
    answer bytea,
    asked_at timestamp with time zone NOT NULL,
    CONSTRAINT look_number_check CHECK ((length(number) = 32))
);
ALTER TABLE weft.look OWNER TO postgres;

CREATE TABLE weft.machine (
    machine_id integer NOT NULL,
    pool_id integer NOT NULL,
    name text NOT NULL,
    provider text NOT NULL,
    provider_id text,
    flavour text NOT NULL,
    region text NOT NULL,
    cpu_m bigint NOT NULL,
    price_per_hour numeric NOT NULL,
    pool_max integer NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    waits text,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    strayed_at timestamp with time zone,
    costs_from timestamp with time zone,
    used_share double precision DEFAULT 0 NOT NULL,
    template text,
    came_at timestamp with time zone,
    for_batch_id bigint,
    for_job_id integer,
    released_at timestamp with time zone,
    missed boolean DEFAULT false NOT NULL,
    CONSTRAINT machine_cpu_m_check CHECK ((cpu_m > 0)),
    CONSTRAINT machine_dates_check CHECK ((created_at <= changed_at)),
    CONSTRAINT machine_job_check CHECK (((for_batch_id IS NULL) = (for_job_id IS NULL))),
    CONSTRAINT machine_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT machine_price_per_hour_check CHECK ((price_per_hour >= (0)::numeric)),
    CONSTRAINT machine_provider_id_check CHECK ((length(provider_id) <= 1000)),
    CONSTRAINT machine_reason_check CHECK ((length(reason) <= 1000)),
    CONSTRAINT machine_state_check CHECK ((state = ANY (ARRAY['creating'::text, 'active'::text, 'cordoned'::text, 'deleting'::text, 'deleted'::text]))),
    CONSTRAINT machine_used_share_check CHECK (((used_share >= (0)::double precision) AND (used_share <= (1)::double precision))),
    CONSTRAINT machine_waits_check CHECK (((length(waits) >= 1) AND (length(waits) <= 1000)))
);
ALTER TABLE weft.machine OWNER TO postgres;

ALTER TABLE weft.machine ALTER COLUMN machine_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.machine_machine_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.machine_sum (
    pool_id integer NOT NULL,
    flavour text NOT NULL,
    state text NOT NULL,
    n bigint NOT NULL,
    from_us numeric NOT NULL,
    price numeric NOT NULL,
    price_from numeric NOT NULL,
    share numeric NOT NULL,
    share_from numeric NOT NULL,
    share_price numeric NOT NULL,
    share_price_from numeric NOT NULL
);
ALTER TABLE weft.machine_sum OWNER TO postgres;

CREATE TABLE weft.member_span (
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    first_job integer NOT NULL,
    last_job integer NOT NULL,
    tenant_id integer NOT NULL
);
ALTER TABLE weft.member_span OWNER TO postgres;

CREATE SEQUENCE weft.membership_id_seq
    AS integer
    START WITH -1
    INCREMENT BY -1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE weft.membership_id_seq OWNER TO postgres;

CREATE TABLE weft.membership (
    batch_id bigint NOT NULL,
    membership_id integer DEFAULT nextval('weft.membership_id_seq'::regclass) NOT NULL,
    tenant_id integer NOT NULL,
    group_id integer NOT NULL,
    set_ids integer[] NOT NULL,
    CONSTRAINT membership_membership_id_check CHECK ((membership_id < 0)),
    CONSTRAINT membership_set_ids_check CHECK ((cardinality(set_ids) > 0))
);
ALTER TABLE weft.membership OWNER TO postgres;

CREATE TABLE weft.migration (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE weft.migration OWNER TO postgres;

ALTER TABLE weft.operation ALTER COLUMN operation_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.operation_operation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.output_term (
    batch_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    keep_s bigint,
    n_jobs bigint,
    removed_at timestamp with time zone,
    why text,
    n_bytes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT output_term_keep_s_check CHECK ((keep_s > 0)),
    CONSTRAINT output_term_why_check CHECK ((length(why) <= 200))
);
ALTER TABLE weft.output_term OWNER TO postgres;

CREATE TABLE weft.parent_end (
    batch_id bigint NOT NULL,
    child_id integer NOT NULL,
    tenant_id integer NOT NULL,
    n integer NOT NULL,
    bad boolean NOT NULL,
    at timestamp with time zone
);
ALTER TABLE weft.parent_end OWNER TO postgres;

CREATE TABLE weft.place (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    gate_id integer NOT NULL,
    tenant_id integer NOT NULL,
    admitted_at timestamp with time zone NOT NULL,
    cost integer DEFAULT 1 NOT NULL,
    CONSTRAINT place_cost_check CHECK ((cost > 0))
);
ALTER TABLE weft.place OWNER TO postgres;

CREATE TABLE weft.pool_change (
    pool_id integer NOT NULL,
    change_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    machine text,
    reason text NOT NULL,
    CONSTRAINT pool_change_kind_check CHECK ((kind = ANY (ARRAY['apply'::text, 'create'::text, 'cordon'::text, 'uncordon'::text, 'delete'::text, 'gone'::text, 'fail'::text]))),
    CONSTRAINT pool_change_reason_check CHECK ((length(reason) <= 1000))
);
ALTER TABLE weft.pool_change OWNER TO postgres;

ALTER TABLE weft.pool_change ALTER COLUMN change_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.pool_change_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.pool_cost (
    pool_id integer NOT NULL,
    spent_on date NOT NULL,
    flavour text NOT NULL,
    machine_us bigint NOT NULL,
    used_us double precision NOT NULL,
    cost numeric NOT NULL,
    used_cost numeric NOT NULL
);
ALTER TABLE weft.pool_cost OWNER TO postgres;

CREATE TABLE weft.pool_load (
    pool_id integer NOT NULL,
    running_m bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.pool_load OWNER TO postgres;

ALTER TABLE weft.pool ALTER COLUMN pool_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.pool_pool_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.preemption (
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    attempt smallint NOT NULL,
    tenant_id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    for_batch_id bigint,
    for_job_id integer,
    for_attempt smallint
);
ALTER TABLE weft.preemption OWNER TO postgres;

CREATE TABLE weft.product (
    product_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    project_id integer NOT NULL,
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    attempt smallint NOT NULL,
    line integer NOT NULL,
    document jsonb NOT NULL,
    inputs jsonb,
    name text,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    kept_at timestamp with time zone,
    CONSTRAINT product_document_check CHECK ((length((document)::text) <= 262144)),
    CONSTRAINT product_line_check CHECK ((line > 0))
);
ALTER TABLE weft.product OWNER TO postgres;

ALTER TABLE weft.product ALTER COLUMN product_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.product_product_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.project_usage (
    project_id integer NOT NULL,
    usage_on date NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id integer NOT NULL,
    tenant_id integer NOT NULL,
    usage_ms bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.project_usage OWNER TO postgres;

CREATE TABLE weft.queue (
    queue_id integer NOT NULL,
    tenant_id integer NOT NULL,
    pool_id integer NOT NULL,
    name text NOT NULL,
    priority integer,
    guard text,
    pools text[] DEFAULT '{default}'::text[] NOT NULL,
    executor text,
    users text[],
    state text DEFAULT 'enabled'::text NOT NULL,
    limits jsonb DEFAULT '{}'::jsonb NOT NULL,
    max_waiting integer,
    transport text DEFAULT 'postgres'::text NOT NULL,
    consumers text DEFAULT 'weft'::text NOT NULL,
    slots integer,
    queued_s integer,
    monitor jsonb,
    CONSTRAINT queue_consumers_check CHECK ((consumers = ANY (ARRAY['weft'::text, 'foreign'::text]))),
    CONSTRAINT queue_foreign_check CHECK (((consumers = 'foreign'::text) = (slots IS NOT NULL))),
    CONSTRAINT queue_guard_check CHECK ((length(guard) <= 1000)),
    CONSTRAINT queue_max_waiting_check CHECK ((max_waiting >= 0)),
    CONSTRAINT queue_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT queue_queued_s_check CHECK ((queued_s > 0)),
    CONSTRAINT queue_slots_check CHECK ((slots > 0)),
    CONSTRAINT queue_state_check CHECK ((state = ANY (ARRAY['enabled'::text, 'draining'::text, 'closed'::text])))
);
ALTER TABLE weft.queue OWNER TO postgres;

CREATE TABLE weft.queue_count (
    tenant_id integer NOT NULL,
    queue text NOT NULL,
    n_waiting bigint DEFAULT 0 NOT NULL,
    n_running bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.queue_count OWNER TO postgres;

ALTER TABLE weft.queue ALTER COLUMN queue_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.queue_queue_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.quota (
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    jobs_max bigint,
    batches_max bigint,
    cores_max_m bigint,
    bytes_max bigint,
    CONSTRAINT quota_of_batches CHECK ((batches_max >= 0)),
    CONSTRAINT quota_of_bytes CHECK ((bytes_max >= 0)),
    CONSTRAINT quota_of_cores CHECK (((cores_max_m >= 0) AND (cores_max_m <= 1000000000))),
    CONSTRAINT quota_of_jobs CHECK ((jobs_max >= 0)),
    CONSTRAINT quota_user_id_check CHECK ((user_id >= '-1'::integer))
);
ALTER TABLE weft.quota OWNER TO postgres;

CREATE TABLE weft.rate (
    rate_card_id smallint NOT NULL,
    resource_id smallint NOT NULL,
    price_per_unit_hour numeric NOT NULL,
    CONSTRAINT rate_price_per_unit_hour_check CHECK ((price_per_unit_hour >= (0)::numeric))
);
ALTER TABLE weft.rate OWNER TO postgres;

CREATE TABLE weft.rate_card (
    rate_card_id smallint NOT NULL,
    valid_from timestamp with time zone NOT NULL
);
ALTER TABLE weft.rate_card OWNER TO postgres;

ALTER TABLE weft.rate_card ALTER COLUMN rate_card_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.rate_card_rate_card_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.rate_correction (
    rate_card_id smallint NOT NULL,
    correction_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    reason text,
    old jsonb NOT NULL,
    new jsonb NOT NULL,
    CONSTRAINT rate_correction_actor_check CHECK ((length(actor) <= 300)),
    CONSTRAINT rate_correction_reason_check CHECK ((length(reason) <= 1000))
);
ALTER TABLE weft.rate_correction OWNER TO postgres;

ALTER TABLE weft.rate_correction ALTER COLUMN correction_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.rate_correction_correction_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.ready_job (
    pool_id integer NOT NULL,
    user_id integer NOT NULL,
    rank smallint NOT NULL,
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    lane_id integer DEFAULT 0 NOT NULL,
    gate_set_id integer DEFAULT 0 NOT NULL
);
ALTER TABLE weft.ready_job OWNER TO postgres;

CREATE TABLE weft.removed_usage (
    project_id integer NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id integer NOT NULL,
    tenant_id integer NOT NULL,
    usage_ms bigint NOT NULL
);
ALTER TABLE weft.removed_usage OWNER TO postgres;

CREATE TABLE weft.resource (
    resource_id smallint NOT NULL,
    name text NOT NULL,
    unit text NOT NULL
);
ALTER TABLE weft.resource OWNER TO postgres;

CREATE TABLE weft.resubmitted_span (
    batch_id bigint NOT NULL,
    from_job integer NOT NULL,
    n_jobs integer NOT NULL,
    first_job integer NOT NULL,
    tenant_id integer NOT NULL,
    CONSTRAINT resubmitted_span_n_jobs_check CHECK ((n_jobs > 0))
);
ALTER TABLE weft.resubmitted_span OWNER TO postgres;

CREATE TABLE weft.runnable (
    runnable_id bigint NOT NULL,
    pool_id integer NOT NULL,
    user_id integer NOT NULL,
    tenant_id integer NOT NULL,
    batch_id bigint NOT NULL,
    update_id integer NOT NULL,
    first_job integer NOT NULL,
    last_job integer NOT NULL,
    low_job integer NOT NULL,
    lane_id integer DEFAULT 0 NOT NULL,
    gate_set_id integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.runnable OWNER TO postgres;

ALTER TABLE weft.runnable ALTER COLUMN runnable_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.runnable_runnable_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.saved_query (
    user_id integer NOT NULL,
    name text NOT NULL,
    tenant_id integer NOT NULL,
    query text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT saved_query_name_check CHECK ((name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,62}$'::text)),
    CONSTRAINT saved_query_query_check CHECK (((length(query) >= 1) AND (length(query) <= 65536)))
);
ALTER TABLE weft.saved_query OWNER TO postgres;

ALTER TABLE weft.schedule ALTER COLUMN schedule_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.schedule_schedule_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.schema_range (
    only_row boolean DEFAULT true NOT NULL,
    schema integer NOT NULL,
    oldest_program integer NOT NULL,
    database_id uuid DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT schema_range_in_order CHECK ((oldest_program <= schema)),
    CONSTRAINT schema_range_only_row_check CHECK (only_row)
);
ALTER TABLE weft.schema_range OWNER TO postgres;

COMMENT ON COLUMN weft.schema_range.oldest_program IS 'raised by the contract step, which takes away what older programs call';

CREATE TABLE weft.service (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    batch_id bigint NOT NULL,
    job_id integer NOT NULL
);
ALTER TABLE weft.service OWNER TO postgres;

CREATE TABLE weft.setup (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    document text NOT NULL,
    saved_at timestamp with time zone NOT NULL,
    saved_by text NOT NULL,
    CONSTRAINT setup_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64)))
);
ALTER TABLE weft.setup OWNER TO postgres;

CREATE TABLE weft.shape (
    shape_id integer NOT NULL,
    cpu_m bigint NOT NULL,
    memory_mib bigint NOT NULL,
    storage_mib bigint NOT NULL,
    gpu integer NOT NULL,
    countables jsonb DEFAULT '{}'::jsonb NOT NULL,
    lane_id integer,
    CONSTRAINT shape_cpu_m_check CHECK ((cpu_m > 0)),
    CONSTRAINT shape_gpu_check CHECK ((gpu >= 0)),
    CONSTRAINT shape_memory_mib_check CHECK ((memory_mib >= 0)),
    CONSTRAINT shape_storage_mib_check CHECK ((storage_mib >= 0))
);
ALTER TABLE weft.shape OWNER TO postgres;

ALTER TABLE weft.shape ALTER COLUMN shape_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.shape_shape_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.sink (
    sink_id integer NOT NULL,
    tenant_id integer NOT NULL,
    setup text NOT NULL,
    user_id integer NOT NULL,
    name text NOT NULL,
    document jsonb NOT NULL,
    saved_at timestamp with time zone NOT NULL,
    saved_by text NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT sink_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64)))
);
ALTER TABLE weft.sink OWNER TO postgres;

ALTER TABLE weft.sink ALTER COLUMN sink_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.sink_sink_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.skipped_batch (
    user_id integer NOT NULL,
    idempotency_key text NOT NULL,
    tenant_id integer NOT NULL,
    digest bytea,
    batch_id bigint NOT NULL
);
ALTER TABLE weft.skipped_batch OWNER TO postgres;

CREATE TABLE weft.source_item_change (
    source_id integer NOT NULL,
    n bigint NOT NULL,
    change_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    state text NOT NULL,
    status text,
    reason text,
    batch_id bigint,
    job_id integer,
    repeats integer DEFAULT 0 NOT NULL
);
ALTER TABLE weft.source_item_change OWNER TO postgres;

ALTER TABLE weft.source_item_change ALTER COLUMN change_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.source_item_change_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE weft.source ALTER COLUMN source_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.source_source_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE weft.spend_limit ALTER COLUMN limit_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.spend_limit_limit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.subscription (
    subscription_id bigint NOT NULL,
    batch_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    event text NOT NULL,
    persistent boolean NOT NULL,
    policy jsonb NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT subscription_event_check CHECK ((length(event) <= 32)),
    CONSTRAINT subscription_name_check CHECK ((length(name) <= 64)),
    CONSTRAINT subscription_url_check CHECK ((length(url) <= 2048))
);
ALTER TABLE weft.subscription OWNER TO postgres;

ALTER TABLE weft.subscription ALTER COLUMN subscription_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.subscription_subscription_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE weft.tenant ALTER COLUMN tenant_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.tenant_tenant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE weft.tenant_user ALTER COLUMN user_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.tenant_user_user_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE weft.token ALTER COLUMN token_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.token_token_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.topic_run (
    event_id uuid NOT NULL,
    owner text NOT NULL,
    begun_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    failed boolean DEFAULT false NOT NULL,
    error text,
    tenant_id integer,
    job_id text,
    trace_id text,
    record_id uuid,
    CONSTRAINT topic_run_error_check CHECK ((length(error) <= 4096)),
    CONSTRAINT topic_run_job_id_check CHECK ((length(job_id) <= 64)),
    CONSTRAINT topic_run_trace_id_check CHECK ((length(trace_id) <= 1024))
);
ALTER TABLE weft.topic_run OWNER TO postgres;

CREATE TABLE weft.trail_head (
    singleton boolean DEFAULT true NOT NULL,
    number bigint NOT NULL,
    digest bytea NOT NULL,
    removed_number bigint DEFAULT 0 NOT NULL,
    removed_digest bytea DEFAULT '\x'::bytea NOT NULL,
    CONSTRAINT trail_head_singleton_check CHECK (singleton)
);
ALTER TABLE weft.trail_head OWNER TO postgres;

CREATE TABLE weft.trail_unsealed (
    request_id uuid NOT NULL,
    tenant_id integer,
    user_id integer,
    user_name text,
    token_id bigint,
    address text,
    trace_id text NOT NULL,
    action text NOT NULL,
    path text NOT NULL,
    batch_id bigint,
    refused text,
    at timestamp with time zone NOT NULL,
    times integer,
    CONSTRAINT trail_unsealed_path_check CHECK ((length(path) <= 1000)),
    CONSTRAINT trail_unsealed_times_check CHECK ((times > 1))
);
ALTER TABLE weft.trail_unsealed OWNER TO postgres;

CREATE TABLE weft.transport_cancel (
    offer_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    transport text NOT NULL,
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE weft.transport_cancel OWNER TO postgres;

CREATE TABLE weft.transport_depth (
    transport text NOT NULL,
    tenant_id integer NOT NULL,
    queue text NOT NULL,
    messages bigint NOT NULL,
    consumers integer NOT NULL
);
ALTER TABLE weft.transport_depth OWNER TO postgres;

CREATE TABLE weft.transport_offer (
    offer_id bigint NOT NULL,
    batch_id bigint NOT NULL,
    job_id integer NOT NULL,
    tenant_id integer NOT NULL,
    pool_id integer NOT NULL,
    queue text NOT NULL,
    transport text NOT NULL,
    offered_at timestamp with time zone NOT NULL,
    send_at timestamp with time zone NOT NULL,
    sends smallint DEFAULT 0 NOT NULL,
    confirmed_at timestamp with time zone,
    attempt smallint,
    fence uuid,
    answered_at timestamp with time zone,
    weight double precision NOT NULL
);
ALTER TABLE weft.transport_offer OWNER TO postgres;

ALTER TABLE weft.transport_offer ALTER COLUMN offer_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.transport_offer_offer_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.transport_state (
    transport text NOT NULL,
    looked_at timestamp with time zone NOT NULL,
    away_since timestamp with time zone,
    error text,
    CONSTRAINT transport_state_error_check CHECK ((length(error) <= 1000))
);
ALTER TABLE weft.transport_state OWNER TO postgres;

CREATE TABLE weft.usage_sum (
    tenant_id integer NOT NULL,
    project_id integer NOT NULL,
    user_id integer NOT NULL,
    usage_on date NOT NULL,
    rate_card_id smallint NOT NULL,
    cpu numeric NOT NULL,
    memory numeric NOT NULL,
    storage numeric NOT NULL,
    gpu numeric NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.usage_sum OWNER TO postgres;

CREATE TABLE weft.user_batch_count (
    pool_id integer NOT NULL,
    user_id integer NOT NULL,
    batch_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    n_ready bigint NOT NULL,
    n_running bigint NOT NULL,
    ready_m bigint NOT NULL,
    running_m bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.user_batch_count OWNER TO postgres;

CREATE TABLE weft.user_count (
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    project_id integer NOT NULL,
    n_pending bigint NOT NULL,
    n_ready bigint NOT NULL,
    n_queued bigint NOT NULL,
    n_creating bigint NOT NULL,
    n_running bigint NOT NULL,
    n_blocked bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.user_count OWNER TO postgres;

CREATE TABLE weft.user_minute (
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    minute timestamp with time zone NOT NULL,
    n_waiting bigint NOT NULL,
    n_running bigint NOT NULL,
    n_succeeded bigint NOT NULL,
    n_failed bigint NOT NULL,
    n_cancelled bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.user_minute OWNER TO postgres;

CREATE TABLE weft.user_share (
    pool_id integer NOT NULL,
    user_id integer NOT NULL,
    tenant_id integer NOT NULL,
    active boolean NOT NULL,
    weight double precision NOT NULL,
    running_m bigint DEFAULT 0 NOT NULL,
    n_ready bigint DEFAULT 0 NOT NULL,
    load double precision DEFAULT 0 NOT NULL,
    ready_m bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.user_share OWNER TO postgres;

CREATE TABLE weft.user_storage (
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    n_bytes bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.user_storage OWNER TO postgres;

CREATE TABLE weft.user_usage (
    project_id integer NOT NULL,
    user_id integer NOT NULL,
    usage_on date NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id integer NOT NULL,
    tenant_id integer NOT NULL,
    usage_ms bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE weft.user_usage OWNER TO postgres;

CREATE TABLE weft.view_login (
    login name NOT NULL,
    tenant_id integer NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE weft.view_login OWNER TO postgres;

CREATE TABLE weft.worker_change (
    worker_id integer NOT NULL,
    change_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    state text NOT NULL,
    actor text NOT NULL,
    reason text,
    CONSTRAINT worker_change_state_check CHECK ((state = ANY (ARRAY['active'::text, 'cordoned'::text, 'draining'::text, 'lost'::text, 'deleted'::text])))
);
ALTER TABLE weft.worker_change OWNER TO postgres;

ALTER TABLE weft.worker_change ALTER COLUMN change_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.worker_change_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE weft.worker_incarnation ALTER COLUMN incarnation_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.worker_incarnation_incarnation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE weft.worker_lane (
    incarnation_id integer NOT NULL,
    lane_id integer NOT NULL
);
ALTER TABLE weft.worker_lane OWNER TO postgres;

CREATE TABLE weft.worker_sum (
    pool_id integer NOT NULL,
    n_workers bigint NOT NULL,
    cpu_m bigint NOT NULL,
    memory_mib bigint NOT NULL
);
ALTER TABLE weft.worker_sum OWNER TO postgres;

ALTER TABLE weft.worker ALTER COLUMN worker_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.worker_worker_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY weft.admission
    ADD CONSTRAINT admission_pkey PRIMARY KEY (batch_id, job_id, limit_id, attempt);

ALTER TABLE ONLY weft.answered_request
    ADD CONSTRAINT answered_request_pkey PRIMARY KEY (user_id, idempotency_key);

ALTER TABLE ONLY weft.app_part
    ADD CONSTRAINT app_part_pkey PRIMARY KEY (tenant_id, digest, part);

ALTER TABLE ONLY weft.app_revision
    ADD CONSTRAINT app_revision_pkey PRIMARY KEY (revision_id);

ALTER TABLE ONLY weft.app_use
    ADD CONSTRAINT app_use_pkey PRIMARY KEY (batch_id, revision_id);

ALTER TABLE ONLY weft.attempt_note
    ADD CONSTRAINT attempt_note_pkey PRIMARY KEY (batch_id, job_id, attempt, phase);

ALTER TABLE ONLY weft.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (batch_id, job_id, attempt);

ALTER TABLE ONLY weft.attempt_reason
    ADD CONSTRAINT attempt_reason_pkey PRIMARY KEY (reason);

ALTER TABLE ONLY weft.attempt_reason
    ADD CONSTRAINT attempt_reason_word_key UNIQUE (word);

ALTER TABLE ONLY weft.attempt_staging
    ADD CONSTRAINT attempt_staging_pkey PRIMARY KEY (batch_id, job_id, attempt);

ALTER TABLE ONLY weft.attempt_stop
    ADD CONSTRAINT attempt_stop_pkey PRIMARY KEY (batch_id, job_id, attempt);

ALTER TABLE ONLY weft.attempt_watch
    ADD CONSTRAINT attempt_watch_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.batch_grant
    ADD CONSTRAINT batch_grant_pkey PRIMARY KEY (batch_id, job_id, user_id);

ALTER TABLE ONLY weft.batch_payload
    ADD CONSTRAINT batch_payload_pkey PRIMARY KEY (batch_id, digest, part);

ALTER TABLE ONLY weft.batch
    ADD CONSTRAINT batch_pkey PRIMARY KEY (batch_id);

ALTER TABLE ONLY weft.batch_storage
    ADD CONSTRAINT batch_storage_pkey PRIMARY KEY (batch_id);

ALTER TABLE ONLY weft.batch_update
    ADD CONSTRAINT batch_update_pkey PRIMARY KEY (batch_id, update_id);

ALTER TABLE ONLY weft.batch_usage
    ADD CONSTRAINT batch_usage_pkey PRIMARY KEY (batch_id, usage_on, rate_card_id, shape_id);

ALTER TABLE ONLY weft.billing_member
    ADD CONSTRAINT billing_member_pkey PRIMARY KEY (project_id, user_id);

ALTER TABLE ONLY weft.billing_project
    ADD CONSTRAINT billing_project_pkey PRIMARY KEY (project_id);

ALTER TABLE ONLY weft.billing_project
    ADD CONSTRAINT billing_project_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY weft.black_hole
    ADD CONSTRAINT black_hole_pkey PRIMARY KEY (worker_id);

ALTER TABLE ONLY weft.block_request
    ADD CONSTRAINT block_request_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.blocked_job
    ADD CONSTRAINT blocked_job_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.bunch_count
    ADD CONSTRAINT bunch_count_pkey PRIMARY KEY (batch_id, update_id, first_job, group_id, shape_id);

ALTER TABLE ONLY weft.bunch
    ADD CONSTRAINT bunch_pkey PRIMARY KEY (batch_id, update_id, first_job);

ALTER TABLE ONLY weft.callback_delivery
    ADD CONSTRAINT callback_delivery_batch_id_group_id_completion_key UNIQUE (batch_id, group_id, completion);

ALTER TABLE ONLY weft.callback_delivery
    ADD CONSTRAINT callback_delivery_pkey PRIMARY KEY (delivery_id);

ALTER TABLE ONLY weft.cascade
    ADD CONSTRAINT cascade_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.claim
    ADD CONSTRAINT claim_pkey PRIMARY KEY (incarnation_id, claim_id);

ALTER TABLE ONLY weft.condition_batch
    ADD CONSTRAINT condition_batch_pkey PRIMARY KEY (batch_id, condition_id);

ALTER TABLE ONLY weft.condition
    ADD CONSTRAINT condition_pkey PRIMARY KEY (condition_id);

ALTER TABLE ONLY weft.condition
    ADD CONSTRAINT condition_tenant_id_digest_key UNIQUE (tenant_id, digest);

ALTER TABLE ONLY weft.core_sweep
    ADD CONSTRAINT core_sweep_pkey PRIMARY KEY (tenant_id, user_id);

ALTER TABLE ONLY weft.dead_letter
    ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.dead_message
    ADD CONSTRAINT dead_message_pkey PRIMARY KEY (dead_id);

ALTER TABLE ONLY weft.driver_state
    ADD CONSTRAINT driver_state_pkey PRIMARY KEY (one_row);

ALTER TABLE ONLY weft.edge
    ADD CONSTRAINT edge_pkey PRIMARY KEY (batch_id, parent_id, child_id);

ALTER TABLE ONLY weft.empty_batch
    ADD CONSTRAINT empty_batch_pkey PRIMARY KEY (batch_id);

ALTER TABLE ONLY weft.event_floor
    ADD CONSTRAINT event_floor_pkey PRIMARY KEY (one_row);

ALTER TABLE ONLY weft.event_listener
    ADD CONSTRAINT event_listener_pkey PRIMARY KEY (listener_id);

ALTER TABLE ONLY weft.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (xid, event_id);

ALTER TABLE ONLY weft.event_reader
    ADD CONSTRAINT event_reader_pkey PRIMARY KEY (reader);

ALTER TABLE ONLY weft.failure_cause
    ADD CONSTRAINT failure_cause_pkey PRIMARY KEY (batch_id, cause_id);

ALTER TABLE ONLY weft.failure_count
    ADD CONSTRAINT failure_count_pkey PRIMARY KEY (batch_id, group_id);

ALTER TABLE ONLY weft.file_store
    ADD CONSTRAINT file_store_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY weft.fold
    ADD CONSTRAINT fold_pkey PRIMARY KEY (one_row);

ALTER TABLE ONLY weft.foreign_state
    ADD CONSTRAINT foreign_state_pkey PRIMARY KEY (batch_id);

ALTER TABLE ONLY weft.gate
    ADD CONSTRAINT gate_kind_key_key UNIQUE (kind, key);

ALTER TABLE ONLY weft.gate_member
    ADD CONSTRAINT gate_member_pkey PRIMARY KEY (gate_id, gate_set_id);

ALTER TABLE ONLY weft.gate_note
    ADD CONSTRAINT gate_note_pkey PRIMARY KEY (gate_id, note_id);

ALTER TABLE ONLY weft.gate_pause
    ADD CONSTRAINT gate_pause_pkey PRIMARY KEY (gate_id, pool_id, shape_id);

ALTER TABLE ONLY weft.gate
    ADD CONSTRAINT gate_pkey PRIMARY KEY (gate_id);

ALTER TABLE ONLY weft.gate_set
    ADD CONSTRAINT gate_set_gate_ids_key UNIQUE (gate_ids);

ALTER TABLE ONLY weft.gate_set
    ADD CONSTRAINT gate_set_pkey PRIMARY KEY (gate_set_id);

ALTER TABLE ONLY weft.group_ancestor
    ADD CONSTRAINT group_ancestor_pkey PRIMARY KEY (batch_id, group_id, ancestor_id);

ALTER TABLE ONLY weft.group_bunch
    ADD CONSTRAINT group_bunch_pkey PRIMARY KEY (batch_id, update_id, idempotency_key);

ALTER TABLE ONLY weft.group_cancel
    ADD CONSTRAINT group_cancel_pkey PRIMARY KEY (batch_id, group_id);

ALTER TABLE ONLY weft.group_change
    ADD CONSTRAINT group_change_pkey PRIMARY KEY (batch_id, group_id, change_id);

ALTER TABLE ONLY weft.group_completion
    ADD CONSTRAINT group_completion_pkey PRIMARY KEY (batch_id, group_id, completion);

ALTER TABLE ONLY weft.group_count
    ADD CONSTRAINT group_count_pkey PRIMARY KEY (batch_id, group_id);

ALTER TABLE ONLY weft.group_hold
    ADD CONSTRAINT group_hold_pkey PRIMARY KEY (batch_id, group_id, limit_id);

ALTER TABLE ONLY weft.group_usage
    ADD CONSTRAINT group_usage_pkey PRIMARY KEY (batch_id, group_id, rate_card_id, shape_id);

ALTER TABLE ONLY weft.held_ready
    ADD CONSTRAINT held_ready_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job_array
    ADD CONSTRAINT job_array_pkey PRIMARY KEY (batch_id, first_job);

ALTER TABLE ONLY weft.job_cache
    ADD CONSTRAINT job_cache_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job_cancel
    ADD CONSTRAINT job_cancel_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job_change
    ADD CONSTRAINT job_change_pkey PRIMARY KEY (batch_id, job_id, change_id);

ALTER TABLE ONLY weft.job_command
    ADD CONSTRAINT job_command_pkey PRIMARY KEY (command_id);

ALTER TABLE ONLY weft.job_deadline
    ADD CONSTRAINT job_deadline_pkey PRIMARY KEY (batch_id, first_job);

ALTER TABLE ONLY weft.job_file
    ADD CONSTRAINT job_file_pkey PRIMARY KEY (batch_id, job_id, attempt, path);

ALTER TABLE ONLY weft.job_group
    ADD CONSTRAINT job_group_pkey PRIMARY KEY (batch_id, group_id);

ALTER TABLE ONLY weft.job_hold
    ADD CONSTRAINT job_hold_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job_label
    ADD CONSTRAINT job_label_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job_note
    ADD CONSTRAINT job_note_pkey PRIMARY KEY (batch_id, job_id, title);

ALTER TABLE ONLY weft.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job_spec
    ADD CONSTRAINT job_spec_pkey PRIMARY KEY (batch_id, first_job);

ALTER TABLE ONLY weft.job_state
    ADD CONSTRAINT job_state_pkey PRIMARY KEY (state);

ALTER TABLE ONLY weft.job_state
    ADD CONSTRAINT job_state_word_key UNIQUE (word);

ALTER TABLE ONLY weft.job_status_change
    ADD CONSTRAINT job_status_change_pkey PRIMARY KEY (batch_id, job_id, n);

ALTER TABLE ONLY weft.job_status
    ADD CONSTRAINT job_status_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job_transition
    ADD CONSTRAINT job_transition_pkey PRIMARY KEY (from_state, to_state);

ALTER TABLE ONLY weft.lane
    ADD CONSTRAINT lane_asks_key UNIQUE (asks);

ALTER TABLE ONLY weft.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (lane_id);

ALTER TABLE ONLY weft.last_audit
    ADD CONSTRAINT last_audit_pkey PRIMARY KEY (one_row);

ALTER TABLE ONLY weft.late_job
    ADD CONSTRAINT late_job_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.licence
    ADD CONSTRAINT licence_pkey PRIMARY KEY (name);

ALTER TABLE ONLY weft.lifecycle_core
    ADD CONSTRAINT lifecycle_core_pkey PRIMARY KEY (lifecycle_id, state, status);

ALTER TABLE ONLY weft.lifecycle_edge
    ADD CONSTRAINT lifecycle_edge_pkey PRIMARY KEY (lifecycle_id, from_status, to_status);

ALTER TABLE ONLY weft.lifecycle_exit
    ADD CONSTRAINT lifecycle_exit_pkey PRIMARY KEY (lifecycle_id, first_code);

ALTER TABLE ONLY weft.lifecycle_move
    ADD CONSTRAINT lifecycle_move_pkey PRIMARY KEY (lifecycle_id, state, from_status, within);

ALTER TABLE ONLY weft.lifecycle
    ADD CONSTRAINT lifecycle_pkey PRIMARY KEY (lifecycle_id);

ALTER TABLE ONLY weft.look
    ADD CONSTRAINT look_pkey PRIMARY KEY (number);

ALTER TABLE ONLY weft.machine
    ADD CONSTRAINT machine_name_key UNIQUE (name);

ALTER TABLE ONLY weft.machine
    ADD CONSTRAINT machine_pkey PRIMARY KEY (machine_id);

ALTER TABLE ONLY weft.member_span
    ADD CONSTRAINT member_span_pkey PRIMARY KEY (batch_id, group_id, first_job, last_job);

ALTER TABLE ONLY weft.membership
    ADD CONSTRAINT membership_pkey PRIMARY KEY (batch_id, membership_id);

ALTER TABLE ONLY weft.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (name);

ALTER TABLE ONLY weft.operation
    ADD CONSTRAINT operation_pkey PRIMARY KEY (operation_id);

ALTER TABLE ONLY weft.output_term
    ADD CONSTRAINT output_term_pkey PRIMARY KEY (batch_id);

ALTER TABLE ONLY weft.parameter_version
    ADD CONSTRAINT parameter_version_pkey PRIMARY KEY (tenant_id, name, version);

ALTER TABLE ONLY weft.parent_share
    ADD CONSTRAINT parent_share_pkey PRIMARY KEY (batch_id, child_id, need);

ALTER TABLE ONLY weft.place
    ADD CONSTRAINT place_pkey PRIMARY KEY (batch_id, job_id, gate_id);

ALTER TABLE ONLY weft.pool_change
    ADD CONSTRAINT pool_change_pkey PRIMARY KEY (pool_id, change_id);

ALTER TABLE ONLY weft.pool_cost
    ADD CONSTRAINT pool_cost_pkey PRIMARY KEY (pool_id, spent_on, flavour);

ALTER TABLE ONLY weft.pool_load
    ADD CONSTRAINT pool_load_pkey PRIMARY KEY (pool_id);

ALTER TABLE ONLY weft.pool
    ADD CONSTRAINT pool_name_key UNIQUE (name);

ALTER TABLE ONLY weft.pool
    ADD CONSTRAINT pool_pkey PRIMARY KEY (pool_id);

ALTER TABLE ONLY weft.preemption
    ADD CONSTRAINT preemption_pkey PRIMARY KEY (batch_id, job_id, attempt);

ALTER TABLE ONLY weft.product
    ADD CONSTRAINT product_batch_id_job_id_attempt_line_key UNIQUE (batch_id, job_id, attempt, line);

ALTER TABLE ONLY weft.product
    ADD CONSTRAINT product_pkey PRIMARY KEY (product_id);

ALTER TABLE ONLY weft.project_usage
    ADD CONSTRAINT project_usage_pkey PRIMARY KEY (project_id, usage_on, rate_card_id, shape_id);

ALTER TABLE ONLY weft.queue_count
    ADD CONSTRAINT queue_count_pkey PRIMARY KEY (tenant_id, queue);

ALTER TABLE ONLY weft.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (queue_id);

ALTER TABLE ONLY weft.queue
    ADD CONSTRAINT queue_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY weft.queue
    ADD CONSTRAINT queue_tenant_id_priority_key UNIQUE (tenant_id, priority);

ALTER TABLE ONLY weft.quota
    ADD CONSTRAINT quota_pkey PRIMARY KEY (tenant_id, user_id);

ALTER TABLE ONLY weft.rate_card
    ADD CONSTRAINT rate_card_pkey PRIMARY KEY (rate_card_id);

ALTER TABLE ONLY weft.rate_card
    ADD CONSTRAINT rate_card_valid_from_key UNIQUE (valid_from);

ALTER TABLE ONLY weft.rate_correction
    ADD CONSTRAINT rate_correction_pkey PRIMARY KEY (rate_card_id, correction_id);

ALTER TABLE ONLY weft.rate
    ADD CONSTRAINT rate_pkey PRIMARY KEY (rate_card_id, resource_id);

ALTER TABLE ONLY weft.ready_job
    ADD CONSTRAINT ready_job_pkey PRIMARY KEY (gate_set_id, pool_id, user_id, rank, batch_id, job_id);

ALTER TABLE ONLY weft.removed_usage
    ADD CONSTRAINT removed_usage_pkey PRIMARY KEY (project_id, rate_card_id, shape_id);

ALTER TABLE ONLY weft.reservation
    ADD CONSTRAINT reservation_batch_id_job_id_key UNIQUE (batch_id, job_id);

ALTER TABLE ONLY weft.reservation
    ADD CONSTRAINT reservation_pkey PRIMARY KEY (incarnation_id);

ALTER TABLE ONLY weft.resource
    ADD CONSTRAINT resource_name_key UNIQUE (name);

ALTER TABLE ONLY weft.resource
    ADD CONSTRAINT resource_pkey PRIMARY KEY (resource_id);

ALTER TABLE ONLY weft.resubmitted_span
    ADD CONSTRAINT resubmitted_span_pkey PRIMARY KEY (batch_id, from_job);

ALTER TABLE ONLY weft.runnable
    ADD CONSTRAINT runnable_pkey PRIMARY KEY (runnable_id);

ALTER TABLE ONLY weft.saved_query
    ADD CONSTRAINT saved_query_pkey PRIMARY KEY (user_id, name);

ALTER TABLE ONLY weft.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (schedule_id);

ALTER TABLE ONLY weft.schedule_run
    ADD CONSTRAINT schedule_run_pkey PRIMARY KEY (schedule_id, due_at);

ALTER TABLE ONLY weft.schema_range
    ADD CONSTRAINT schema_range_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY weft.secret
    ADD CONSTRAINT secret_pkey PRIMARY KEY (user_id, name);

ALTER TABLE ONLY weft.service
    ADD CONSTRAINT service_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY weft.setup
    ADD CONSTRAINT setup_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY weft.shape
    ADD CONSTRAINT shape_cpu_m_memory_mib_storage_mib_gpu_countables_key UNIQUE (cpu_m, memory_mib, storage_mib, gpu, countables);

ALTER TABLE ONLY weft.shape
    ADD CONSTRAINT shape_pkey PRIMARY KEY (shape_id);

ALTER TABLE ONLY weft.sink
    ADD CONSTRAINT sink_pkey PRIMARY KEY (sink_id);

ALTER TABLE ONLY weft.skipped_batch
    ADD CONSTRAINT skipped_batch_pkey PRIMARY KEY (user_id, idempotency_key);

ALTER TABLE ONLY weft.source_item_change
    ADD CONSTRAINT source_item_change_pkey PRIMARY KEY (source_id, n, change_id);

ALTER TABLE ONLY weft.source_item
    ADD CONSTRAINT source_item_pkey PRIMARY KEY (source_id, n);

ALTER TABLE ONLY weft.source_item
    ADD CONSTRAINT source_item_source_id_key_key UNIQUE (source_id, key);

ALTER TABLE ONLY weft.source
    ADD CONSTRAINT source_pkey PRIMARY KEY (source_id);

ALTER TABLE ONLY weft.source
    ADD CONSTRAINT source_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY weft.spend_limit
    ADD CONSTRAINT spend_limit_pkey PRIMARY KEY (limit_id);

ALTER TABLE ONLY weft.subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (subscription_id);

ALTER TABLE ONLY weft.tenant
    ADD CONSTRAINT tenant_name_key UNIQUE (name);

ALTER TABLE ONLY weft.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY weft.tenant_user
    ADD CONSTRAINT tenant_user_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY weft.tenant_user
    ADD CONSTRAINT tenant_user_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY weft.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY weft.token
    ADD CONSTRAINT token_token_id_key UNIQUE (token_id);

ALTER TABLE ONLY weft.topic_run
    ADD CONSTRAINT topic_run_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY weft.trail_entry
    ADD CONSTRAINT trail_entry_pkey PRIMARY KEY (number);

ALTER TABLE ONLY weft.trail_entry
    ADD CONSTRAINT trail_entry_request_id_key UNIQUE (request_id);

ALTER TABLE ONLY weft.trail_head
    ADD CONSTRAINT trail_head_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY weft.transport_cancel
    ADD CONSTRAINT transport_cancel_pkey PRIMARY KEY (offer_id);

ALTER TABLE ONLY weft.transport_depth
    ADD CONSTRAINT transport_depth_pkey PRIMARY KEY (transport, tenant_id, queue);

ALTER TABLE ONLY weft.transport_offer
    ADD CONSTRAINT transport_offer_batch_id_job_id_key UNIQUE (batch_id, job_id);

ALTER TABLE ONLY weft.transport_offer
    ADD CONSTRAINT transport_offer_pkey PRIMARY KEY (offer_id);

ALTER TABLE ONLY weft.transport_state
    ADD CONSTRAINT transport_state_pkey PRIMARY KEY (transport);

ALTER TABLE ONLY weft.usage_sum
    ADD CONSTRAINT usage_sum_pkey PRIMARY KEY (tenant_id, project_id, user_id, usage_on, rate_card_id);

ALTER TABLE ONLY weft.user_batch_count
    ADD CONSTRAINT user_batch_count_pkey PRIMARY KEY (pool_id, user_id, batch_id);

ALTER TABLE ONLY weft.user_count
    ADD CONSTRAINT user_count_pkey PRIMARY KEY (tenant_id, user_id, project_id);

ALTER TABLE ONLY weft.user_minute
    ADD CONSTRAINT user_minute_pkey PRIMARY KEY (tenant_id, user_id, minute);

ALTER TABLE ONLY weft.user_share
    ADD CONSTRAINT user_share_pkey PRIMARY KEY (pool_id, user_id);

ALTER TABLE ONLY weft.user_storage
    ADD CONSTRAINT user_storage_pkey PRIMARY KEY (tenant_id, user_id);

ALTER TABLE ONLY weft.user_usage
    ADD CONSTRAINT user_usage_pkey PRIMARY KEY (project_id, user_id, usage_on, rate_card_id, shape_id);

ALTER TABLE ONLY weft.view_login
    ADD CONSTRAINT view_login_pkey PRIMARY KEY (login);

ALTER TABLE ONLY weft.worker_change
    ADD CONSTRAINT worker_change_pkey PRIMARY KEY (worker_id, change_id);

ALTER TABLE ONLY weft.worker_incarnation
    ADD CONSTRAINT worker_incarnation_name_key UNIQUE (name);

ALTER TABLE ONLY weft.worker_incarnation
    ADD CONSTRAINT worker_incarnation_pkey PRIMARY KEY (incarnation_id);

ALTER TABLE ONLY weft.worker_lane
    ADD CONSTRAINT worker_lane_pkey PRIMARY KEY (incarnation_id, lane_id);

ALTER TABLE ONLY weft.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (worker_id);

ALTER TABLE ONLY weft.worker
    ADD CONSTRAINT worker_pool_id_name_key UNIQUE (pool_id, name);

CREATE INDEX admission_limit_idx ON weft.admission USING btree (limit_id);

CREATE INDEX admission_open_idx ON weft.admission USING btree (limit_id) WHERE open;

CREATE INDEX answered_request_at_idx ON weft.answered_request USING btree (at);

CREATE INDEX app_revision_digest_idx ON weft.app_revision USING btree (tenant_id, digest);

CREATE UNIQUE INDEX app_revision_name_idx ON weft.app_revision USING btree (tenant_id, name, for_user) WHERE (removed_at IS NULL);

CREATE INDEX app_revision_removed_idx ON weft.app_revision USING btree (tenant_id, removed_at) WHERE (removed_at IS NOT NULL);

CREATE INDEX app_use_revision_idx ON weft.app_use USING btree (revision_id);

CREATE INDEX attempt_failure_idx ON weft.attempt USING btree (batch_id, job_id) WHERE (reason IS NOT NULL);

CREATE INDEX attempt_note_progress_idx ON weft.attempt_note USING btree (batch_id, at) WHERE (phase = 0);

CREATE INDEX attempt_stop_due_at_idx ON weft.attempt_stop USING btree (due_at);

CREATE INDEX attempt_stop_incarnation_id_idx ON weft.attempt_stop USING btree (incarnation_id);

CREATE INDEX attempt_watch_due_at_idx ON weft.attempt_watch USING btree (due_at);

CREATE INDEX attempt_watch_incarnation_id_idx ON weft.attempt_watch USING btree (incarnation_id);

CREATE INDEX batch_created_idx ON weft.batch USING btree (tenant_id, created_at, batch_id);

CREATE INDEX batch_door_idx ON weft.batch USING btree (tenant_id, door, batch_id) WHERE (foreign_id IS NOT NULL);

CREATE INDEX batch_foreign_idx ON weft.batch USING btree (tenant_id, door, foreign_id) WHERE (foreign_id IS NOT NULL);

CREATE INDEX batch_foreign_kind_idx ON weft.batch USING btree (user_id, foreign_kind, batch_id) WHERE (foreign_kind IS NOT NULL);

CREATE INDEX batch_foreign_unlisted_idx ON weft.batch USING btree (tenant_id, door, user_id) WHERE ((foreign_id IS NOT NULL) AND (hidden OR (deleted_at IS NOT NULL)));

CREATE INDEX batch_grant_job_idx ON weft.batch_grant USING btree (user_id, batch_id, job_id) WHERE (job_id > 0);

CREATE INDEX batch_grant_user_idx ON weft.batch_grant USING btree (user_id, batch_id) WHERE (job_id = 0);

CREATE UNIQUE INDEX batch_idempotency_key_idx ON weft.batch USING btree (user_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX batch_lifecycle_idx ON weft.batch USING btree (tenant_id, batch_id) WHERE (lifecycle_id IS NOT NULL);

CREATE INDEX batch_more_sinks_idx ON weft.batch USING btree (tenant_id) WHERE (more_sinks IS NOT NULL);

CREATE INDEX batch_name_idx ON weft.batch USING btree (tenant_id, name, batch_id) WHERE (name IS NOT NULL);

CREATE INDEX batch_project_created_idx ON weft.batch USING btree (project_id, created_at, batch_id);

CREATE INDEX batch_project_idx ON weft.batch USING btree (project_id, batch_id);

CREATE INDEX batch_project_name_idx ON weft.batch USING btree (project_id, name, batch_id) WHERE (name IS NOT NULL);

CREATE INDEX batch_sink_idx ON weft.batch USING btree (sink_id) WHERE (sink_id IS NOT NULL);

CREATE INDEX batch_tenant_idx ON weft.batch USING btree (tenant_id, batch_id);

CREATE INDEX batch_unique_key_idx ON weft.batch USING btree (user_id, unique_key, batch_id) WHERE (unique_key IS NOT NULL);

CREATE INDEX batch_update_first_job_idx ON weft.batch_update USING btree (batch_id, first_job);

CREATE UNIQUE INDEX batch_update_idempotency_key_idx ON weft.batch_update USING btree (batch_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX batch_update_open_idx ON weft.batch_update USING btree (created_at) WHERE (committed_at IS NULL);

CREATE INDEX batch_usage_project_idx ON weft.batch_usage USING btree (project_id, usage_on);

CREATE INDEX batch_user_created_idx ON weft.batch USING btree (user_id, created_at, batch_id);

CREATE INDEX batch_user_door_idx ON weft.batch USING btree (user_id, door, batch_id) WHERE (foreign_id IS NOT NULL);

CREATE INDEX batch_user_idx ON weft.batch USING btree (user_id, batch_id);

CREATE INDEX batch_user_name_idx ON weft.batch USING btree (user_id, name, batch_id) WHERE (name IS NOT NULL);

CREATE INDEX billing_member_user_idx ON weft.billing_member USING btree (user_id, project_id);

CREATE UNIQUE INDEX billing_project_name_key_idx ON weft.billing_project USING btree (tenant_id, name_key);

CREATE INDEX billing_project_page_idx ON weft.billing_project USING btree (tenant_id, name) WHERE (deleted_at IS NULL);

CREATE INDEX blocked_job_condition_idx ON weft.blocked_job USING btree (condition_id, next_at) WHERE (condition_id IS NOT NULL);

CREATE INDEX blocked_job_own_date_idx ON weft.blocked_job USING btree (next_at) WHERE (condition_id IS NULL);

CREATE INDEX bunch_count_group_idx ON weft.bunch_count USING btree (batch_id, group_id, first_job);

CREATE UNIQUE INDEX bunch_idempotency_key_idx ON weft.bunch USING btree (batch_id, update_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX callback_delivery_batch_idx ON weft.callback_delivery USING btree (batch_id, delivery_id);

CREATE INDEX callback_delivery_due_idx ON weft.callback_delivery USING btree (next_at) WHERE ((next_at IS NOT NULL) AND (NOT behind));

CREATE UNIQUE INDEX callback_delivery_event_idx ON weft.callback_delivery USING btree (subscription_id, event_key) WHERE (subscription_id IS NOT NULL);

CREATE INDEX callback_delivery_host_idx ON weft.callback_delivery USING btree (tenant_id, host, next_at) WHERE ((next_at IS NOT NULL) AND (NOT behind));

CREATE UNIQUE INDEX callback_delivery_job_idx ON weft.callback_delivery USING btree (batch_id, job_id, file, sink_id) WHERE (job_id IS NOT NULL);

CREATE INDEX callback_delivery_order_idx ON weft.callback_delivery USING btree (sink_id, order_key, delivery_id) WHERE ((next_at IS NOT NULL) AND (order_key IS NOT NULL));

CREATE INDEX callback_delivery_sink_idx ON weft.callback_delivery USING btree (sink_id, delivery_id) WHERE (sink_id IS NOT NULL);

CREATE INDEX callback_delivery_turn_idx ON weft.callback_delivery USING btree (subscription_id, delivery_id) WHERE ((next_at IS NOT NULL) AND (subscription_id IS NOT NULL));

CREATE INDEX callback_delivery_unsent_idx ON weft.callback_delivery USING btree (sink_id, batch_id) WHERE ((sink_id IS NOT NULL) AND (delivered_at IS NULL) AND (held IS DISTINCT FROM 'dropped'::text));

CREATE INDEX condition_batch_oldest_idx ON weft.condition_batch USING btree (condition_id, batch_id);

CREATE INDEX condition_batch_owner_idx ON weft.condition_batch USING btree (owner_id, condition_id);

CREATE INDEX condition_batch_project_idx ON weft.condition_batch USING btree (project_id, condition_id);

CREATE INDEX condition_delta_condition_id_idx ON weft.condition_delta USING btree (condition_id);

CREATE INDEX condition_failed_idx ON weft.condition USING btree (condition_id) WHERE (failed_by IS NOT NULL);

CREATE INDEX condition_going_idx ON weft.condition USING btree (condition_id) WHERE (n_going > 0);

CREATE INDEX condition_next_test_at_idx ON weft.condition USING btree (tenant_id, next_test_at);

CREATE INDEX condition_page_idx ON weft.condition USING btree (tenant_id, condition_id);

CREATE INDEX core_sweep_open_idx ON weft.core_sweep USING btree (tenant_id, user_id) WHERE (done_at IS NULL);

CREATE INDEX dead_letter_cause_idx ON weft.dead_letter USING btree (batch_id, acknowledged, cause_id, job_id);

CREATE INDEX dead_message_kept_idx ON weft.dead_message USING btree (kept_at);

CREATE INDEX dead_message_resend_idx ON weft.dead_message USING btree (resend_at) WHERE (resend_at IS NOT NULL);

CREATE INDEX dead_message_tenant_idx ON weft.dead_message USING btree (tenant_id, dead_id);

CREATE INDEX edge_child_idx ON weft.edge USING btree (batch_id, child_id, parent_id);

CREATE INDEX edge_share_idx ON weft.edge USING btree (batch_id, child_id, parent_id) WHERE (need < 0);

CREATE INDEX edge_start_idx ON weft.edge USING btree (batch_id, parent_id) WHERE (need = 2);

CREATE INDEX empty_batch_created_idx ON weft.empty_batch USING btree (created_at);

CREATE INDEX empty_batch_tenant_idx ON weft.empty_batch USING btree (tenant_id);

CREATE INDEX failure_cause_cause_idx ON weft.failure_cause USING btree (cause_id, tenant_id, batch_id);

CREATE INDEX failure_cause_open_idx ON weft.failure_cause USING btree (tenant_id, batch_id) WHERE (n_jobs > n_acknowledged);

CREATE INDEX failure_cause_owner_idx ON weft.failure_cause USING btree (owner_id, batch_id) WHERE (n_jobs > n_acknowledged);

CREATE INDEX failure_cause_owner_seen_idx ON weft.failure_cause USING btree (owner_id, batch_id) WHERE (n_acknowledged > 0);

CREATE INDEX failure_cause_project_idx ON weft.failure_cause USING btree (project_id, batch_id) WHERE (n_jobs > n_acknowledged);

CREATE INDEX failure_cause_project_seen_idx ON weft.failure_cause USING btree (project_id, batch_id) WHERE (n_acknowledged > 0);

CREATE INDEX failure_cause_reason_idx ON weft.failure_cause USING btree (reason, tenant_id, batch_id) WHERE (reason IS NOT NULL);

CREATE INDEX failure_cause_seen_idx ON weft.failure_cause USING btree (tenant_id, batch_id) WHERE (n_acknowledged > 0);

CREATE INDEX failure_delta_batch_id_idx ON weft.failure_delta USING btree (batch_id);

CREATE INDEX foreign_count_door_idx ON weft.foreign_count USING btree (tenant_id, door);

CREATE INDEX foreign_state_door_idx ON weft.foreign_state USING btree (tenant_id, door, state, changed_at, batch_id);

CREATE INDEX foreign_state_user_idx ON weft.foreign_state USING btree (tenant_id, user_id, door, state, changed_at, batch_id);

CREATE INDEX gate_batch_id_idx ON weft.gate USING btree (batch_id) WHERE (batch_id IS NOT NULL);

CREATE INDEX gate_member_batch_id_idx ON weft.gate_member USING btree (batch_id) WHERE (batch_id IS NOT NULL);

CREATE INDEX gate_member_gate_set_id_idx ON weft.gate_member USING btree (gate_set_id, gate_id);

CREATE INDEX gate_opens_at_idx ON weft.gate USING btree (opens_at) WHERE (opens_at IS NOT NULL);

CREATE INDEX gate_return_due_at_idx ON weft.gate_return USING btree (due_at);

CREATE INDEX gate_set_batch_id_idx ON weft.gate_set USING btree (batch_id) WHERE (batch_id IS NOT NULL);

CREATE INDEX group_ancestor_members_idx ON weft.group_ancestor USING btree (batch_id, ancestor_id, group_id);

CREATE INDEX group_cancel_unswept_idx ON weft.group_cancel USING btree (batch_id) WHERE (NOT swept);

CREATE INDEX group_cancel_user_idx ON weft.group_cancel USING btree (user_id, cancelled_at) WHERE (NOT swept);

CREATE INDEX group_completion_completed_idx ON weft.group_completion USING btree (tenant_id, completed_at, batch_id) WHERE (group_id = 0);

CREATE INDEX group_completion_owner_idx ON weft.group_completion USING btree (owner_id, completed_at, batch_id) WHERE (group_id = 0);

CREATE INDEX group_completion_project_idx ON weft.group_completion USING btree (project_id, completed_at, batch_id) WHERE (group_id = 0);

CREATE INDEX group_count_open_idx ON weft.group_count USING btree (tenant_id, batch_id) WHERE ((group_id = 0) AND (NOT complete));

CREATE INDEX group_hold_limit_idx ON weft.group_hold USING btree (limit_id, batch_id) WHERE (limit_id <> 0);

CREATE INDEX group_hold_unswept_idx ON weft.group_hold USING btree (batch_id) WHERE (NOT swept);

CREATE INDEX job_array_name_idx ON weft.job_array USING btree (batch_id, name, first_job) WHERE (name IS NOT NULL);

CREATE INDEX job_cache_key_idx ON weft.job_cache USING btree (key, batch_id, job_id) WHERE ((from_batch IS NULL) AND (key IS NOT NULL));

CREATE INDEX job_change_error_idx ON weft.job_change USING btree (batch_id, job_id) WHERE (to_state = 8);

CREATE INDEX job_command_batch_id_job_id_idx ON weft.job_command USING btree (batch_id, job_id);

CREATE UNIQUE INDEX job_command_extension_idx ON weft.job_command USING btree (batch_id, job_id) WHERE (extend_ms IS NOT NULL);

CREATE INDEX job_deadline_due_at_idx ON weft.job_deadline USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX job_delta_xid_idx ON weft.job_delta USING btree (xid);

CREATE INDEX job_file_path_idx ON weft.job_file USING btree (batch_id, path);

CREATE INDEX job_group_parent_idx ON weft.job_group USING btree (batch_id, parent_id, group_id) WHERE (parent_id IS NOT NULL);

CREATE UNIQUE INDEX job_group_path_idx ON weft.job_group USING btree (batch_id, path);

CREATE UNIQUE INDEX job_group_set_name_idx ON weft.job_group USING btree (batch_id, name) WHERE is_set;

CREATE INDEX job_label_name_idx ON weft.job_label USING btree (batch_id, name, job_id) WHERE (name IS NOT NULL);

CREATE INDEX job_status_change_at_idx ON weft.job_status_change USING brin (at);

CREATE INDEX lane_machine_idx ON weft.lane USING btree (lane_id) WHERE (asks ? 'machine'::text);

CREATE INDEX lifecycle_limits_idx ON weft.lifecycle USING btree (lifecycle_id) WHERE (limits IS NOT NULL);

CREATE UNIQUE INDEX lifecycle_name_idx ON weft.lifecycle USING btree (tenant_id, name) WHERE (ended_at IS NULL);

CREATE INDEX machine_came_idx ON weft.machine USING btree (pool_id, flavour, machine_id) WHERE (came_at IS NOT NULL);

CREATE UNIQUE INDEX machine_job_idx ON weft.machine USING btree (for_batch_id, for_job_id) WHERE ((for_batch_id IS NOT NULL) AND (released_at IS NULL));

CREATE INDEX machine_jobs_idx ON weft.machine USING btree (for_batch_id, for_job_id) WHERE (for_batch_id IS NOT NULL);

CREATE INDEX machine_page_idx ON weft.machine USING btree (pool_id, machine_id) WHERE (state <> 'deleted'::text);

CREATE INDEX machine_sum_pool_idx ON weft.machine_sum USING btree (pool_id);

CREATE UNIQUE INDEX membership_groups_idx ON weft.membership USING btree (batch_id, group_id, set_ids);

CREATE INDEX operation_batch_idx ON weft.operation USING btree (batch_id, operation_id);

CREATE UNIQUE INDEX operation_idempotency_key_idx ON weft.operation USING btree (user_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX operation_on_batches_idx ON weft.operation USING btree (ended_at) WHERE ((batch_id IS NULL) AND (ended_at IS NOT NULL));

CREATE INDEX operation_owner_idx ON weft.operation USING btree (owner_id, operation_id);

CREATE INDEX operation_project_idx ON weft.operation USING btree (project_id, operation_id);

CREATE INDEX operation_running_idx ON weft.operation USING btree (operation_id) WHERE (state = 'running'::text);

CREATE INDEX operation_tenant_idx ON weft.operation USING btree (tenant_id, operation_id);

CREATE INDEX operation_user_idx ON weft.operation USING btree (user_id, operation_id) WHERE ((batch_id IS NULL) OR (kind = 'delete_batch'::text));

CREATE INDEX output_term_own_idx ON weft.output_term USING btree (batch_id) WHERE ((keep_s IS NOT NULL) AND (removed_at IS NULL));

CREATE INDEX parent_end_child_idx ON weft.parent_end USING btree (batch_id, child_id);

CREATE INDEX place_gate_id_idx ON weft.place USING btree (gate_id, admitted_at);

CREATE INDEX pool_serves_idx ON weft.pool USING btree (serves_tenant_id, name);

CREATE INDEX preemption_for_idx ON weft.preemption USING btree (for_batch_id, for_job_id);

CREATE INDEX product_tenant_idx ON weft.product USING btree (tenant_id, product_id) WHERE (kept_at IS NOT NULL);

CREATE INDEX queue_monitor_idx ON weft.queue USING btree (tenant_id, name) WHERE (monitor IS NOT NULL);

CREATE UNIQUE INDEX ready_job_batch_idx ON weft.ready_job USING btree (batch_id, job_id);

CREATE UNIQUE INDEX ready_job_offer_idx ON weft.ready_job USING btree (pool_id, user_id, lane_id, rank, batch_id, job_id) WHERE (gate_set_id = 0);

CREATE INDEX runnable_batch_idx ON weft.runnable USING btree (batch_id);

CREATE UNIQUE INDEX runnable_offer_idx ON weft.runnable USING btree (pool_id, user_id, lane_id, batch_id, first_job) WHERE (gate_set_id = 0);

CREATE UNIQUE INDEX runnable_order_idx ON weft.runnable USING btree (gate_set_id, pool_id, user_id, batch_id, first_job);

CREATE INDEX schedule_next_at_idx ON weft.schedule USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX schedule_project_idx ON weft.schedule USING btree (project_id, schedule_id);

CREATE INDEX schedule_run_due_at_idx ON weft.schedule_run USING btree (due_at) WHERE (ended_at IS NULL);

CREATE INDEX schedule_tenant_id_idx ON weft.schedule USING btree (tenant_id, schedule_id);

CREATE UNIQUE INDEX schedule_user_id_idempotency_key_idx ON weft.schedule USING btree (user_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX schedule_user_idx ON weft.schedule USING btree (user_id, schedule_id);

CREATE INDEX service_job_idx ON weft.service USING btree (batch_id, job_id);

CREATE UNIQUE INDEX sink_name_idx ON weft.sink USING btree (tenant_id, name) WHERE (ended_at IS NULL);

CREATE INDEX skipped_batch_batch_idx ON weft.skipped_batch USING btree (batch_id);

CREATE INDEX source_item_before_idx ON weft.source_item USING btree (source_id, series, series_at, n) WHERE ((series IS NOT NULL) AND (state <> ALL (ARRAY['cancelled'::text, 'refused'::text])) AND ((state <> 'job'::text) OR (left_over IS DISTINCT FROM '{}'::jsonb)));

CREATE INDEX source_item_change_at_idx ON weft.source_item_change USING brin (at);

CREATE INDEX source_item_change_job_idx ON weft.source_item_change USING btree (batch_id, job_id) WHERE (batch_id IS NOT NULL);

CREATE INDEX source_item_decided_idx ON weft.source_item USING btree (source_id, series, series_at, n) WHERE ((series IS NOT NULL) AND (state = ANY (ARRAY['job'::text, 'cancelled'::text, 'refused'::text])));

CREATE INDEX source_item_due_idx ON weft.source_item USING btree (source_id, due_at, n) WHERE (due_at IS NOT NULL);

CREATE INDEX source_item_job_idx ON weft.source_item USING btree (batch_id, job_id) WHERE ((series IS NOT NULL) AND (state = 'job'::text) AND (left_over IS NULL));

CREATE INDEX source_item_ready_idx ON weft.source_item USING btree (source_id, n) WHERE (state = 'ready'::text);

CREATE INDEX source_item_series_idx ON weft.source_item USING btree (source_id, series, series_at, n) WHERE (series IS NOT NULL);

CREATE INDEX source_next_at_idx ON weft.source USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX source_taken_at_idx ON weft.source USING btree (tenant_id, taken_at);

CREATE INDEX source_work_at_idx ON weft.source USING btree (work_at) WHERE (work_at IS NOT NULL);

CREATE UNIQUE INDEX spend_limit_batch_idx ON weft.spend_limit USING btree (batch_id, group_id, measure) WHERE (batch_id IS NOT NULL);

CREATE INDEX spend_limit_of_batch_idx ON weft.spend_limit USING btree (batch_id, limit_id) WHERE ((batch_id IS NOT NULL) AND ((amount_max IS NOT NULL) OR (amount_soft_max IS NOT NULL) OR (stage <> 'below'::text)));

CREATE INDEX spend_limit_owner_idx ON weft.spend_limit USING btree (owner_id, limit_id) WHERE ((amount_max IS NOT NULL) OR (amount_soft_max IS NOT NULL) OR (stage <> 'below'::text));

CREATE INDEX spend_limit_page_idx ON weft.spend_limit USING btree (tenant_id, limit_id) WHERE ((amount_max IS NOT NULL) OR (amount_soft_max IS NOT NULL) OR (stage <> 'below'::text));

CREATE UNIQUE INDEX spend_limit_project_idx ON weft.spend_limit USING btree (project_id, measure) WHERE (project_id IS NOT NULL);

CREATE INDEX spend_limit_shared_idx ON weft.spend_limit USING btree (shared_project_id, limit_id) WHERE ((amount_max IS NOT NULL) OR (amount_soft_max IS NOT NULL) OR (stage <> 'below'::text));

CREATE INDEX spend_limit_unapplied_idx ON weft.spend_limit USING btree (limit_id) WHERE (applied_at IS NULL);

CREATE INDEX spend_limit_until_idx ON weft.spend_limit USING btree (until) WHERE (until IS NOT NULL);

CREATE UNIQUE INDEX spend_limit_user_idx ON weft.spend_limit USING btree (user_id, measure) WHERE (user_id IS NOT NULL);

CREATE INDEX subscription_batch_idx ON weft.subscription USING btree (batch_id);

CREATE INDEX subscription_open_idx ON weft.subscription USING btree (xid) WHERE (ended_at IS NULL);

CREATE UNIQUE INDEX tenant_name_key_idx ON weft.tenant USING btree (name_key);

CREATE UNIQUE INDEX tenant_user_name_key_idx ON weft.tenant_user USING btree (tenant_id, name_key);

CREATE INDEX tenant_user_page_idx ON weft.tenant_user USING btree (tenant_id, user_id) WHERE (removed_at IS NULL);

CREATE INDEX tenant_user_weight_idx ON weft.tenant_user USING btree (weight_until) WHERE (weight_until IS NOT NULL);

CREATE INDEX token_name_idx ON weft.token USING btree (name) WHERE (kind = ANY (ARRAY['machine'::text, 'answer'::text]));

CREATE INDEX token_user_idx ON weft.token USING btree (user_id, token_id);

CREATE INDEX topic_run_begun_idx ON weft.topic_run USING btree (begun_at);

CREATE INDEX topic_run_job_idx ON weft.topic_run USING btree (tenant_id, job_id, begun_at) WHERE (tenant_id IS NOT NULL);

CREATE INDEX trail_entry_action_idx ON weft.trail_entry USING btree (tenant_id, action, number);

CREATE INDEX trail_entry_batch_id_idx ON weft.trail_entry USING btree (batch_id, number) WHERE (batch_id IS NOT NULL);

CREATE INDEX trail_entry_sealed_at_idx ON weft.trail_entry USING btree (sealed_at, number);

CREATE INDEX trail_entry_tenant_id_idx ON weft.trail_entry USING btree (tenant_id, number);

CREATE INDEX trail_entry_user_name_idx ON weft.trail_entry USING btree (tenant_id, user_name, number);

CREATE INDEX transport_offer_send_idx ON weft.transport_offer USING btree (send_at) WHERE (attempt IS NULL);

CREATE INDEX user_batch_count_batch_idx ON weft.user_batch_count USING btree (batch_id);

CREATE INDEX user_minute_minute_idx ON weft.user_minute USING btree (minute);

CREATE INDEX user_share_order_idx ON weft.user_share USING btree (pool_id, load, user_id) WHERE active;

CREATE INDEX user_share_running_idx ON weft.user_share USING btree (pool_id, user_id) WHERE ((NOT active) AND (running_m > 0));

CREATE INDEX user_share_tenant_idx ON weft.user_share USING btree (pool_id, tenant_id, load, user_id) WHERE active;

CREATE INDEX user_share_tenant_running_idx ON weft.user_share USING btree (pool_id, tenant_id, user_id) WHERE ((NOT active) AND (running_m > 0));

CREATE INDEX user_usage_date_idx ON weft.user_usage USING btree (usage_on);

CREATE INDEX user_usage_user_idx ON weft.user_usage USING btree (user_id);

CREATE INDEX worker_incarnation_alive_idx ON weft.worker_incarnation USING btree (pool_id) WHERE (ended_at IS NULL);

CREATE INDEX worker_incarnation_newest_idx ON weft.worker_incarnation USING btree (worker_id, incarnation_id);

CREATE UNIQUE INDEX worker_incarnation_one_alive ON weft.worker_incarnation USING btree (worker_id) WHERE (ended_at IS NULL);

CREATE INDEX worker_name_idx ON weft.worker USING btree (name, worker_id);

CREATE INDEX worker_of_pool_aside_idx ON weft.worker USING btree (pool_id, name) WHERE ((cordon_reason IS NOT NULL) AND (deleted_at IS NULL));

CREATE INDEX worker_of_pool_idx ON weft.worker USING btree (pool_id, name) WHERE (deleted_at IS NULL);

CREATE INDEX worker_set_aside_idx ON weft.worker USING btree (name, worker_id) WHERE ((cordon_reason IS NOT NULL) AND (deleted_at IS NULL));

CREATE INDEX worker_sum_pool_idx ON weft.worker_sum USING btree (pool_id);

CREATE INDEX worker_there_idx ON weft.worker USING btree (name, worker_id) WHERE (deleted_at IS NULL);

CREATE TRIGGER batch_completes BEFORE INSERT ON weft.group_completion FOR EACH ROW WHEN ((new.group_id = 0)) EXECUTE FUNCTION weft._note_owner();

CREATE TRIGGER cause_begins BEFORE INSERT ON weft.failure_cause FOR EACH ROW EXECUTE FUNCTION weft._note_owner();

CREATE TRIGGER deliveries_go AFTER DELETE ON weft.callback_delivery REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION weft._leave_orders();

CREATE TRIGGER delivery_leaves_its_order AFTER UPDATE OF next_at ON weft.callback_delivery FOR EACH ROW WHEN (((old.order_key IS NOT NULL) AND (old.sink_id IS NOT NULL) AND (old.next_at IS NOT NULL) AND (new.next_at IS NULL))) EXECUTE FUNCTION weft._leave_order();

CREATE TRIGGER foreign_job_changes AFTER INSERT OR DELETE OR UPDATE OF state ON weft.foreign_state FOR EACH ROW EXECUTE FUNCTION weft._note_state();

CREATE TRIGGER foreign_job_comes AFTER INSERT ON weft.batch FOR EACH ROW WHEN (((new.foreign_id IS NOT NULL) AND (new.deleted_at IS NULL) AND (NOT new.hidden))) EXECUTE FUNCTION weft._note_foreign();

CREATE TRIGGER foreign_job_is_shown AFTER UPDATE OF deleted_at, hidden ON weft.batch FOR EACH ROW WHEN (((new.foreign_id IS NOT NULL) AND (((old.deleted_at IS NULL) AND (NOT old.hidden)) <> ((new.deleted_at IS NULL) AND (NOT new.hidden))))) EXECUTE FUNCTION weft._note_foreign();

CREATE TRIGGER item_begins AFTER INSERT ON weft.source_item FOR EACH ROW EXECUTE FUNCTION weft._follow_item();

CREATE TRIGGER item_changes AFTER UPDATE OF state ON weft.source_item FOR EACH ROW WHEN (((new.state <> old.state) AND (new.state <> 'ready'::text))) EXECUTE FUNCTION weft._follow_item();

CREATE TRIGGER job_transition_is_legal AFTER UPDATE OF state ON weft.job FOR EACH ROW WHEN (((old.state <> new.state) AND (((('{770,860,818,786,994,898,0,3,3,3}'::integer[])[(old.state + 1)] >> (new.state)::integer) & 1) = 0))) EXECUTE FUNCTION weft._refuse_transition();

CREATE TRIGGER limit_begins BEFORE INSERT ON weft.spend_limit FOR EACH ROW EXECUTE FUNCTION weft._note_limited();

CREATE TRIGGER machines_begin AFTER INSERT ON weft.machine REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION weft._sum_machines();

CREATE TRIGGER machines_change AFTER UPDATE ON weft.machine REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION weft._sum_machines();

CREATE TRIGGER machines_go AFTER DELETE ON weft.machine REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION weft._sum_machines();

CREATE TRIGGER offer_is_worthless AFTER DELETE ON weft.transport_offer FOR EACH ROW WHEN ((old.fence IS NOT NULL)) EXECUTE FUNCTION weft._note_worthless();

CREATE TRIGGER operation_begins BEFORE INSERT ON weft.operation FOR EACH ROW WHEN ((new.batch_id IS NOT NULL)) EXECUTE FUNCTION weft._note_owner();

CREATE TRIGGER status_change_is_kept BEFORE DELETE OR UPDATE ON weft.job_status_change FOR EACH ROW EXECUTE FUNCTION weft._keep_status_change();

CREATE TRIGGER status_follows_core AFTER UPDATE OF state, phase ON weft.job FOR EACH ROW WHEN (((new.lifecycle_id IS NOT NULL) AND ((old.state <> new.state) OR (old.phase IS DISTINCT FROM new.phase)))) EXECUTE FUNCTION weft._follow_core();

CREATE TRIGGER statuses_follow_core AFTER UPDATE OF state, phase ON weft.job FOR EACH STATEMENT EXECUTE FUNCTION weft._follow_core();

CREATE TRIGGER worker_begins AFTER INSERT ON weft.worker_incarnation FOR EACH ROW WHEN ((new.ended_at IS NULL)) EXECUTE FUNCTION weft._count_worker();

CREATE TRIGGER worker_ends AFTER UPDATE OF ended_at ON weft.worker_incarnation FOR EACH ROW WHEN (((old.ended_at IS NULL) <> (new.ended_at IS NULL))) EXECUTE FUNCTION weft._count_worker();

ALTER TABLE ONLY weft.app_part
    ADD CONSTRAINT app_part_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.app_revision
    ADD CONSTRAINT app_revision_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.app_use
    ADD CONSTRAINT app_use_revision_id_fkey FOREIGN KEY (revision_id) REFERENCES weft.app_revision(revision_id);

ALTER TABLE ONLY weft.batch_grant
    ADD CONSTRAINT batch_grant_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.batch
    ADD CONSTRAINT batch_project_id_fkey FOREIGN KEY (project_id) REFERENCES weft.billing_project(project_id);

ALTER TABLE ONLY weft.batch
    ADD CONSTRAINT batch_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES weft.queue(queue_id);

ALTER TABLE ONLY weft.batch
    ADD CONSTRAINT batch_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.batch_update
    ADD CONSTRAINT batch_update_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.batch
    ADD CONSTRAINT batch_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.billing_member
    ADD CONSTRAINT billing_member_project_id_fkey FOREIGN KEY (project_id) REFERENCES weft.billing_project(project_id);

ALTER TABLE ONLY weft.billing_member
    ADD CONSTRAINT billing_member_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.billing_member
    ADD CONSTRAINT billing_member_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.billing_project
    ADD CONSTRAINT billing_project_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.black_hole
    ADD CONSTRAINT black_hole_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES weft.worker(worker_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.block_request
    ADD CONSTRAINT block_request_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.blocked_job
    ADD CONSTRAINT blocked_job_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.blocked_job
    ADD CONSTRAINT blocked_job_condition_id_fkey FOREIGN KEY (condition_id) REFERENCES weft.condition(condition_id);

ALTER TABLE ONLY weft.callback_delivery
    ADD CONSTRAINT callback_delivery_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.condition_batch
    ADD CONSTRAINT condition_batch_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.condition_batch
    ADD CONSTRAINT condition_batch_condition_id_fkey FOREIGN KEY (condition_id) REFERENCES weft.condition(condition_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.dead_message
    ADD CONSTRAINT dead_message_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.event_reader
    ADD CONSTRAINT event_reader_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.file_store
    ADD CONSTRAINT file_store_set_by_fkey FOREIGN KEY (set_by) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.file_store
    ADD CONSTRAINT file_store_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.group_ancestor
    ADD CONSTRAINT group_ancestor_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.group_bunch
    ADD CONSTRAINT group_bunch_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.group_cancel
    ADD CONSTRAINT group_cancel_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.group_change
    ADD CONSTRAINT group_change_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.group_completion
    ADD CONSTRAINT group_completion_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.group_hold
    ADD CONSTRAINT group_hold_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.job_command
    ADD CONSTRAINT job_command_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.job_deadline
    ADD CONSTRAINT job_deadline_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.job_group
    ADD CONSTRAINT job_group_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.job_hold
    ADD CONSTRAINT job_hold_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.job_transition
    ADD CONSTRAINT job_transition_from_state_fkey FOREIGN KEY (from_state) REFERENCES weft.job_state(state);

ALTER TABLE ONLY weft.job_transition
    ADD CONSTRAINT job_transition_to_state_fkey FOREIGN KEY (to_state) REFERENCES weft.job_state(state);

ALTER TABLE ONLY weft.lane
    ADD CONSTRAINT lane_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES weft.pool(pool_id);

ALTER TABLE ONLY weft.late_job
    ADD CONSTRAINT late_job_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.lifecycle_core
    ADD CONSTRAINT lifecycle_core_lifecycle_id_fkey FOREIGN KEY (lifecycle_id) REFERENCES weft.lifecycle(lifecycle_id);

ALTER TABLE ONLY weft.lifecycle_core
    ADD CONSTRAINT lifecycle_core_state_fkey FOREIGN KEY (state) REFERENCES weft.job_state(state);

ALTER TABLE ONLY weft.lifecycle_edge
    ADD CONSTRAINT lifecycle_edge_lifecycle_id_fkey FOREIGN KEY (lifecycle_id) REFERENCES weft.lifecycle(lifecycle_id);

ALTER TABLE ONLY weft.lifecycle_exit
    ADD CONSTRAINT lifecycle_exit_lifecycle_id_fkey FOREIGN KEY (lifecycle_id) REFERENCES weft.lifecycle(lifecycle_id);

ALTER TABLE ONLY weft.lifecycle_move
    ADD CONSTRAINT lifecycle_move_lifecycle_id_fkey FOREIGN KEY (lifecycle_id) REFERENCES weft.lifecycle(lifecycle_id);

ALTER TABLE ONLY weft.lifecycle_move
    ADD CONSTRAINT lifecycle_move_state_fkey FOREIGN KEY (state) REFERENCES weft.job_state(state);

ALTER TABLE ONLY weft.lifecycle
    ADD CONSTRAINT lifecycle_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.machine
    ADD CONSTRAINT machine_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES weft.pool(pool_id);

ALTER TABLE ONLY weft.parameter_version
    ADD CONSTRAINT parameter_version_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.pool_change
    ADD CONSTRAINT pool_change_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES weft.pool(pool_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.pool_cost
    ADD CONSTRAINT pool_cost_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES weft.pool(pool_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.pool
    ADD CONSTRAINT pool_serves_tenant_id_fkey FOREIGN KEY (serves_tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.product
    ADD CONSTRAINT product_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.queue
    ADD CONSTRAINT queue_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES weft.pool(pool_id);

ALTER TABLE ONLY weft.queue
    ADD CONSTRAINT queue_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.quota
    ADD CONSTRAINT quota_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.rate_correction
    ADD CONSTRAINT rate_correction_rate_card_id_fkey FOREIGN KEY (rate_card_id) REFERENCES weft.rate_card(rate_card_id);

ALTER TABLE ONLY weft.rate
    ADD CONSTRAINT rate_rate_card_id_fkey FOREIGN KEY (rate_card_id) REFERENCES weft.rate_card(rate_card_id);

ALTER TABLE ONLY weft.rate
    ADD CONSTRAINT rate_resource_id_fkey FOREIGN KEY (resource_id) REFERENCES weft.resource(resource_id);

ALTER TABLE ONLY weft.reservation
    ADD CONSTRAINT reservation_incarnation_id_fkey FOREIGN KEY (incarnation_id) REFERENCES weft.worker_incarnation(incarnation_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.saved_query
    ADD CONSTRAINT saved_query_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.schedule_run
    ADD CONSTRAINT schedule_run_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES weft.schedule(schedule_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.schedule
    ADD CONSTRAINT schedule_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.schedule
    ADD CONSTRAINT schedule_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.secret
    ADD CONSTRAINT secret_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.setup
    ADD CONSTRAINT setup_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.shape
    ADD CONSTRAINT shape_lane_id_fkey FOREIGN KEY (lane_id) REFERENCES weft.lane(lane_id);

ALTER TABLE ONLY weft.sink
    ADD CONSTRAINT sink_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.sink
    ADD CONSTRAINT sink_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.source_item_change
    ADD CONSTRAINT source_item_change_source_id_n_fkey FOREIGN KEY (source_id, n) REFERENCES weft.source_item(source_id, n) ON DELETE CASCADE;

ALTER TABLE ONLY weft.source_item
    ADD CONSTRAINT source_item_source_id_fkey FOREIGN KEY (source_id) REFERENCES weft.source(source_id);

ALTER TABLE ONLY weft.source
    ADD CONSTRAINT source_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.source
    ADD CONSTRAINT source_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.spend_limit
    ADD CONSTRAINT spend_limit_project_id_fkey FOREIGN KEY (project_id) REFERENCES weft.billing_project(project_id);

ALTER TABLE ONLY weft.spend_limit
    ADD CONSTRAINT spend_limit_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.spend_limit
    ADD CONSTRAINT spend_limit_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.subscription
    ADD CONSTRAINT subscription_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES weft.batch(batch_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.tenant_user
    ADD CONSTRAINT tenant_user_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.token
    ADD CONSTRAINT token_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.token
    ADD CONSTRAINT token_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.topic_run
    ADD CONSTRAINT topic_run_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.view_login
    ADD CONSTRAINT view_login_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.worker_change
    ADD CONSTRAINT worker_change_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES weft.worker(worker_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.worker_incarnation
    ADD CONSTRAINT worker_incarnation_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES weft.pool(pool_id);

ALTER TABLE ONLY weft.worker_incarnation
    ADD CONSTRAINT worker_incarnation_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES weft.worker(worker_id);

ALTER TABLE ONLY weft.worker_lane
    ADD CONSTRAINT worker_lane_incarnation_id_fkey FOREIGN KEY (incarnation_id) REFERENCES weft.worker_incarnation(incarnation_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.worker_lane
    ADD CONSTRAINT worker_lane_lane_id_fkey FOREIGN KEY (lane_id) REFERENCES weft.lane(lane_id);

ALTER TABLE ONLY weft.worker
    ADD CONSTRAINT worker_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES weft.pool(pool_id);

ALTER TABLE weft.admission ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.answered_request ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.app_part ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.app_revision ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.app_use ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.attempt ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.attempt_note ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.attempt_staging ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.attempt_stop ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.attempt_watch ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.batch ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.batch_grant ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.batch_payload ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.batch_storage ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.batch_update ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.batch_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.billing_member ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.billing_project ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.black_hole ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.block_request ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.blocked_job ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.bunch ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.bunch_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.callback_delivery ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.cascade ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.condition ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.condition_batch ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.condition_delta ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.core_sweep ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.dead_letter ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.dead_message ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.edge ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.empty_batch ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.event ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.event_reader ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.failure_cause ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.failure_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.failure_delta ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.file_store ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.foreign_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.foreign_state ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.gate ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.gate_member ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.gate_note ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.gate_pause ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.gate_return ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.gate_set ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.group_ancestor ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.group_bunch ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.group_cancel ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.group_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.group_completion ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.group_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.group_hold ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.group_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.held_ready ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_array ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_cache ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_cancel ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_command ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_deadline ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_delta ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_file ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_group ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_hold ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_label ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_note ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_spec ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_status ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_status_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.late_job ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.licence ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.lifecycle ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.lifecycle_core ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.lifecycle_edge ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.lifecycle_exit ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.lifecycle_move ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.look ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.machine ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.member_span ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.membership ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.operation ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.output_term ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.parameter_version ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.parent_end ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.parent_share ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.place ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.pool_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.pool_cost ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.preemption ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.product ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.project_usage ENABLE ROW LEVEL SECURITY;

CREATE POLICY query_rows ON weft.attempt FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.batch FOR SELECT TO weft_api, weft_driver USING (((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)) AND (deleted_at IS NULL)));

CREATE POLICY query_rows ON weft.batch_update FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.billing_project FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.bunch FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.bunch_count FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.group_ancestor FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.group_cancel FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.group_completion FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.group_count FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.group_usage FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.job FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.job_array FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.job_change FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.job_delta FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.job_label FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.member_span FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.product FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.queue FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.ready_job FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.runnable FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY query_rows ON weft.tenant_user FOR SELECT TO weft_api, weft_driver USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

ALTER TABLE weft.queue ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.queue_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.quota ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.ready_job ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.removed_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.reservation ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.resubmitted_span ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.runnable ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.saved_query ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.schedule ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.schedule_run ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.secret ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.service ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.setup ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.sink ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.skipped_batch ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.source ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.source_item ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.source_item_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.spend_limit ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.subscription ENABLE ROW LEVEL SECURITY;

CREATE POLICY system_rows ON weft.admission TO weft_system USING (true);

CREATE POLICY system_rows ON weft.answered_request TO weft_system USING (true);

CREATE POLICY system_rows ON weft.app_part TO weft_system USING (true);

CREATE POLICY system_rows ON weft.app_revision TO weft_system USING (true);

CREATE POLICY system_rows ON weft.app_use TO weft_system USING (true);

CREATE POLICY system_rows ON weft.attempt TO weft_system USING (true);

CREATE POLICY system_rows ON weft.attempt_note TO weft_system USING (true);

CREATE POLICY system_rows ON weft.attempt_staging TO weft_system USING (true);

CREATE POLICY system_rows ON weft.attempt_stop TO weft_system USING (true);

CREATE POLICY system_rows ON weft.attempt_watch TO weft_system USING (true);

CREATE POLICY system_rows ON weft.batch TO weft_system USING (true);

CREATE POLICY system_rows ON weft.batch_grant TO weft_system USING (true);

CREATE POLICY system_rows ON weft.batch_payload TO weft_system USING (true);

CREATE POLICY system_rows ON weft.batch_storage TO weft_system USING (true);

CREATE POLICY system_rows ON weft.batch_update TO weft_system USING (true);

CREATE POLICY system_rows ON weft.batch_usage TO weft_system USING (true);

CREATE POLICY system_rows ON weft.billing_member TO weft_system USING (true);

CREATE POLICY system_rows ON weft.billing_project TO weft_system USING (true);

CREATE POLICY system_rows ON weft.black_hole TO weft_system USING (true);

CREATE POLICY system_rows ON weft.block_request TO weft_system USING (true);

CREATE POLICY system_rows ON weft.blocked_job TO weft_system USING (true);

CREATE POLICY system_rows ON weft.bunch TO weft_system USING (true);

CREATE POLICY system_rows ON weft.bunch_count TO weft_system USING (true);

CREATE POLICY system_rows ON weft.callback_delivery TO weft_system USING (true);

CREATE POLICY system_rows ON weft.cascade TO weft_system USING (true);

CREATE POLICY system_rows ON weft.condition TO weft_system USING (true);

CREATE POLICY system_rows ON weft.condition_batch TO weft_system USING (true);

CREATE POLICY system_rows ON weft.condition_delta TO weft_system USING (true);

CREATE POLICY system_rows ON weft.core_sweep TO weft_system USING (true);

CREATE POLICY system_rows ON weft.dead_letter TO weft_system USING (true);

CREATE POLICY system_rows ON weft.dead_message TO weft_system USING (true);

CREATE POLICY system_rows ON weft.edge TO weft_system USING (true);

CREATE POLICY system_rows ON weft.empty_batch TO weft_system USING (true);

CREATE POLICY system_rows ON weft.event TO weft_system USING (true);

CREATE POLICY system_rows ON weft.event_reader TO weft_system USING (true);

CREATE POLICY system_rows ON weft.failure_cause TO weft_system USING (true);

CREATE POLICY system_rows ON weft.failure_count TO weft_system USING (true);

CREATE POLICY system_rows ON weft.failure_delta TO weft_system USING (true);

CREATE POLICY system_rows ON weft.file_store TO weft_system USING (true);

CREATE POLICY system_rows ON weft.foreign_count TO weft_system USING (true);

CREATE POLICY system_rows ON weft.foreign_state TO weft_system USING (true);

CREATE POLICY system_rows ON weft.gate TO weft_system USING (true);

CREATE POLICY system_rows ON weft.gate_member TO weft_system USING (true);

CREATE POLICY system_rows ON weft.gate_note TO weft_system USING (true);

CREATE POLICY system_rows ON weft.gate_pause TO weft_system USING (true);

CREATE POLICY system_rows ON weft.gate_return TO weft_system USING (true);

CREATE POLICY system_rows ON weft.gate_set TO weft_system USING (true);

CREATE POLICY system_rows ON weft.group_ancestor TO weft_system USING (true);

CREATE POLICY system_rows ON weft.group_bunch TO weft_system USING (true);

CREATE POLICY system_rows ON weft.group_cancel TO weft_system USING (true);

CREATE POLICY system_rows ON weft.group_change TO weft_system USING (true);

CREATE POLICY system_rows ON weft.group_completion TO weft_system USING (true);

CREATE POLICY system_rows ON weft.group_count TO weft_system USING (true);

CREATE POLICY system_rows ON weft.group_hold TO weft_system USING (true);

CREATE POLICY system_rows ON weft.group_usage TO weft_system USING (true);

CREATE POLICY system_rows ON weft.held_ready TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_array TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_cache TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_cancel TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_change TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_command TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_deadline TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_delta TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_file TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_group TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_hold TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_label TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_note TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_spec TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_status TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_status_change TO weft_system USING (true);

CREATE POLICY system_rows ON weft.late_job TO weft_system USING (true);

CREATE POLICY system_rows ON weft.licence TO weft_system USING (true);

CREATE POLICY system_rows ON weft.lifecycle TO weft_system USING (true);

CREATE POLICY system_rows ON weft.lifecycle_core TO weft_system USING (true);

CREATE POLICY system_rows ON weft.lifecycle_edge TO weft_system USING (true);

CREATE POLICY system_rows ON weft.lifecycle_exit TO weft_system USING (true);

CREATE POLICY system_rows ON weft.lifecycle_move TO weft_system USING (true);

CREATE POLICY system_rows ON weft.look TO weft_system USING (true);

CREATE POLICY system_rows ON weft.machine TO weft_system USING (true);

CREATE POLICY system_rows ON weft.member_span TO weft_system USING (true);

CREATE POLICY system_rows ON weft.membership TO weft_system USING (true);

CREATE POLICY system_rows ON weft.operation TO weft_system USING (true);

CREATE POLICY system_rows ON weft.output_term TO weft_system USING (true);

CREATE POLICY system_rows ON weft.parameter_version TO weft_system USING (true);

CREATE POLICY system_rows ON weft.parent_end TO weft_system USING (true);

CREATE POLICY system_rows ON weft.parent_share TO weft_system USING (true);

CREATE POLICY system_rows ON weft.place TO weft_system USING (true);

CREATE POLICY system_rows ON weft.pool_change TO weft_system USING (true);

CREATE POLICY system_rows ON weft.pool_cost TO weft_system USING (true);

CREATE POLICY system_rows ON weft.preemption TO weft_system USING (true);

CREATE POLICY system_rows ON weft.product TO weft_system USING (true);

CREATE POLICY system_rows ON weft.project_usage TO weft_system USING (true);

CREATE POLICY system_rows ON weft.queue TO weft_system USING (true);

CREATE POLICY system_rows ON weft.queue_count TO weft_system USING (true);

CREATE POLICY system_rows ON weft.quota TO weft_system USING (true);

CREATE POLICY system_rows ON weft.ready_job TO weft_system USING (true);

CREATE POLICY system_rows ON weft.removed_usage TO weft_system USING (true);

CREATE POLICY system_rows ON weft.reservation TO weft_system USING (true);

CREATE POLICY system_rows ON weft.resubmitted_span TO weft_system USING (true);

CREATE POLICY system_rows ON weft.runnable TO weft_system USING (true);

CREATE POLICY system_rows ON weft.saved_query TO weft_system USING (true);

CREATE POLICY system_rows ON weft.schedule TO weft_system USING (true);

CREATE POLICY system_rows ON weft.schedule_run TO weft_system USING (true);

CREATE POLICY system_rows ON weft.secret TO weft_system USING (true);

CREATE POLICY system_rows ON weft.service TO weft_system USING (true);

CREATE POLICY system_rows ON weft.setup TO weft_system USING (true);

CREATE POLICY system_rows ON weft.sink TO weft_system USING (true);

CREATE POLICY system_rows ON weft.skipped_batch TO weft_system USING (true);

CREATE POLICY system_rows ON weft.source TO weft_system USING (true);

CREATE POLICY system_rows ON weft.source_item TO weft_system USING (true);

CREATE POLICY system_rows ON weft.source_item_change TO weft_system USING (true);

CREATE POLICY system_rows ON weft.spend_limit TO weft_system USING (true);

CREATE POLICY system_rows ON weft.subscription TO weft_system USING (true);

CREATE POLICY system_rows ON weft.tenant TO weft_system USING (true);

CREATE POLICY system_rows ON weft.tenant_user TO weft_system USING (true);

CREATE POLICY system_rows ON weft.token TO weft_system USING (true);

CREATE POLICY system_rows ON weft.topic_run TO weft_system USING (true);

CREATE POLICY system_rows ON weft.trail_entry TO weft_system USING (true);

CREATE POLICY system_rows ON weft.trail_unsealed TO weft_system USING (true);

CREATE POLICY system_rows ON weft.transport_cancel TO weft_system USING (true);

CREATE POLICY system_rows ON weft.transport_depth TO weft_system USING (true);

CREATE POLICY system_rows ON weft.transport_offer TO weft_system USING (true);

CREATE POLICY system_rows ON weft.transport_state TO weft_system USING (true);

CREATE POLICY system_rows ON weft.usage_sum TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_batch_count TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_count TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_minute TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_share TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_storage TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_usage TO weft_system USING (true);

CREATE POLICY system_rows ON weft.view_login TO weft_system USING (true);

ALTER TABLE weft.tenant ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_rows ON weft.admission TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.answered_request TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.app_part TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.app_revision TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.app_use TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.attempt TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.attempt_note TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.attempt_staging TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.attempt_stop TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.attempt_watch TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.batch TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.batch_grant TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.batch_payload TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.batch_storage TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.batch_update TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.batch_usage TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.billing_member TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.billing_project TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.block_request TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.blocked_job TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.bunch TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.bunch_count TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.callback_delivery TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.cascade TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.condition TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.condition_batch TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.condition_delta TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.core_sweep TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.dead_letter TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.dead_message TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.edge TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.empty_batch TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.event TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.event_reader TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.failure_cause TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.failure_count TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.failure_delta TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.file_store TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.foreign_count TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.foreign_state TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.group_ancestor TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.group_bunch TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.group_cancel TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.group_change TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.group_completion TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.group_count TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.group_hold TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.group_usage TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.held_ready TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_array TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_cache TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_cancel TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_change TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_command TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_deadline TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_delta TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_file TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_group TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_hold TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_label TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_note TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_spec TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_status TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_status_change TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.late_job TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.lifecycle TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.lifecycle_core TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.lifecycle_edge TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.lifecycle_exit TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.lifecycle_move TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.member_span TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.membership TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.operation TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.output_term TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.parameter_version TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.parent_end TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.parent_share TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.place TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.preemption TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.product TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.project_usage TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.queue TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.queue_count TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.quota TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.ready_job TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.removed_usage TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.resubmitted_span TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.runnable TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.saved_query TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.schedule TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.schedule_run TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.secret TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.service TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.setup TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.sink TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.skipped_batch TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.source TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.source_item TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.source_item_change TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.spend_limit TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.subscription TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.tenant TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.tenant_user TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.token TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.topic_run TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.trail_entry TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.trail_unsealed TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.transport_cancel TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.transport_depth TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.transport_offer TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.usage_sum TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_batch_count TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_count TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_minute TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_share TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_storage TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_usage TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.view_login TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

ALTER TABLE weft.tenant_user ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.token ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.topic_run ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.trail_entry ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.trail_unsealed ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.transport_cancel ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.transport_depth ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.transport_offer ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.transport_state ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.usage_sum ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_batch_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_minute ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_share ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_storage ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.view_login ENABLE ROW LEVEL SECURITY;

CREATE POLICY view_rows ON weft.attempt FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.batch FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.batch_update FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.callback_delivery FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.job FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.job_array FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.job_label FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.job_status FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.job_status_change FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.lifecycle FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.queue FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.sink FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.source FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.source_item FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.source_item_change FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.tenant_user FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.user_minute FOR SELECT TO weft_views USING ((tenant_id = ( SELECT v.tenant_id
   FROM weft.view_login v
  WHERE (v.login = SESSION_USER))));

CREATE POLICY view_rows ON weft.view_login FOR SELECT TO weft_views USING ((login = SESSION_USER));

GRANT USAGE ON SCHEMA weft TO weft_tenant;
GRANT USAGE ON SCHEMA weft TO weft_system;
GRANT USAGE ON SCHEMA weft TO weft_views;
GRANT USAGE ON SCHEMA weft TO weft_api;
GRANT USAGE ON SCHEMA weft TO weft_driver;
GRANT USAGE ON SCHEMA weft TO weft_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.bunch TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.bunch TO weft_system;
GRANT SELECT ON TABLE weft.bunch TO weft_api;
GRANT SELECT ON TABLE weft.bunch TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_update TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_update TO weft_system;
GRANT SELECT ON TABLE weft.batch_update TO weft_api;
GRANT SELECT ON TABLE weft.batch_update TO weft_driver;
GRANT SELECT ON TABLE weft.batch_update TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job TO weft_system;
GRANT SELECT ON TABLE weft.job TO weft_api;
GRANT SELECT ON TABLE weft.job TO weft_driver;
GRANT SELECT ON TABLE weft.job TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.operation TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.operation TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.app_revision TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.app_revision TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.spend_limit TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.spend_limit TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.reservation TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.reservation TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker_incarnation TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker_incarnation TO weft_system;
GRANT SELECT ON TABLE weft.worker_incarnation TO weft_api;
GRANT SELECT ON TABLE weft.worker_incarnation TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.condition TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.condition TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_delta TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_delta TO weft_system;
GRANT SELECT ON TABLE weft.job_delta TO weft_api;
GRANT SELECT ON TABLE weft.job_delta TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.dead_message TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.dead_message TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.callback_delivery TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.callback_delivery TO weft_system;
GRANT SELECT ON TABLE weft.callback_delivery TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.billing_project TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.billing_project TO weft_system;
GRANT SELECT ON TABLE weft.billing_project TO weft_api;
GRANT SELECT ON TABLE weft.billing_project TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.pool TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.pool TO weft_system;
GRANT SELECT ON TABLE weft.pool TO weft_api;
GRANT SELECT ON TABLE weft.pool TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.source_item TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.source_item TO weft_system;
GRANT SELECT ON TABLE weft.source_item TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch TO weft_system;
GRANT SELECT ON TABLE weft.batch TO weft_api;
GRANT SELECT ON TABLE weft.batch TO weft_driver;
GRANT SELECT ON TABLE weft.batch TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_watch TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_watch TO weft_system;

GRANT SELECT,INSERT ON TABLE weft.parameter_version TO weft_tenant;
GRANT SELECT ON TABLE weft.parameter_version TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.source TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.source TO weft_system;
GRANT SELECT ON TABLE weft.source TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt TO weft_system;
GRANT SELECT ON TABLE weft.attempt TO weft_api;
GRANT SELECT ON TABLE weft.attempt TO weft_driver;
GRANT SELECT ON TABLE weft.attempt TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.schedule TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.schedule TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.schedule_run TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.schedule_run TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.secret TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.secret TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.parent_share TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.parent_share TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.blocked_job TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.blocked_job TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.file_store TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.file_store TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.tenant TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.tenant TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.token TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.token TO weft_system;

GRANT SELECT ON TABLE weft.trail_entry TO weft_tenant;
GRANT SELECT,INSERT,DELETE ON TABLE weft.trail_entry TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.tenant_user TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.tenant_user TO weft_system;
GRANT SELECT ON TABLE weft.tenant_user TO weft_api;
GRANT SELECT ON TABLE weft.tenant_user TO weft_driver;
GRANT SELECT ON TABLE weft.tenant_user TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker TO weft_system;
GRANT SELECT ON TABLE weft.worker TO weft_api;
GRANT SELECT ON TABLE weft.worker TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.admission TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.admission TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.answered_request TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.answered_request TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.app_part TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.app_part TO weft_system;

GRANT USAGE ON SEQUENCE weft.app_revision_revision_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.app_revision_revision_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.app_use TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.app_use TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_note TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_note TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_reason TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_reason TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_staging TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_staging TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_stop TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_stop TO weft_system;

GRANT USAGE ON SEQUENCE weft.batch_batch_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.batch_batch_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_grant TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_grant TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_payload TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_payload TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_storage TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_storage TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_usage TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_usage TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.billing_member TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.billing_member TO weft_system;

GRANT USAGE ON SEQUENCE weft.billing_project_project_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.billing_project_project_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.black_hole TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.black_hole TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.block_request TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.block_request TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.bunch_count TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.bunch_count TO weft_system;
GRANT SELECT ON TABLE weft.bunch_count TO weft_api;
GRANT SELECT ON TABLE weft.bunch_count TO weft_driver;

GRANT USAGE ON SEQUENCE weft.callback_delivery_delivery_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.callback_delivery_delivery_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.cascade TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.cascade TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.claim TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.claim TO weft_system;

GRANT USAGE ON SEQUENCE weft.claim_claim_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.claim_claim_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.condition_batch TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.condition_batch TO weft_system;

GRANT USAGE ON SEQUENCE weft.condition_condition_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.condition_condition_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.condition_delta TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.condition_delta TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.core_sweep TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.core_sweep TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.dead_letter TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.dead_letter TO weft_system;

GRANT USAGE ON SEQUENCE weft.dead_message_dead_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.dead_message_dead_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.driver_state TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.driver_state TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.edge TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.edge TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.empty_batch TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.empty_batch TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.event TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.event TO weft_system;

GRANT USAGE ON SEQUENCE weft.event_event_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.event_event_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.event_floor TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.event_floor TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.event_listener TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.event_listener TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.event_reader TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.event_reader TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.failure_cause TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.failure_cause TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.failure_count TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.failure_count TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.failure_delta TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.failure_delta TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.fold TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.fold TO weft_system;
GRANT SELECT ON TABLE weft.fold TO weft_api;
GRANT SELECT ON TABLE weft.fold TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.foreign_count TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.foreign_count TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.foreign_state TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.foreign_state TO weft_system;

GRANT USAGE ON SEQUENCE weft.gate_gate_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.gate_gate_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate_member TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate_member TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate_note TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate_note TO weft_system;

GRANT USAGE ON SEQUENCE weft.gate_note_note_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.gate_note_note_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate_pause TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate_pause TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate_return TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate_return TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate_set TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate_set TO weft_system;

GRANT USAGE ON SEQUENCE weft.gate_set_gate_set_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.gate_set_gate_set_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_ancestor TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_ancestor TO weft_system;
GRANT SELECT ON TABLE weft.group_ancestor TO weft_api;
GRANT SELECT ON TABLE weft.group_ancestor TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_bunch TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_bunch TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_cancel TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_cancel TO weft_system;
GRANT SELECT ON TABLE weft.group_cancel TO weft_api;
GRANT SELECT ON TABLE weft.group_cancel TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_change TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_change TO weft_system;

GRANT USAGE ON SEQUENCE weft.group_change_change_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.group_change_change_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_completion TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_completion TO weft_system;
GRANT SELECT ON TABLE weft.group_completion TO weft_api;
GRANT SELECT ON TABLE weft.group_completion TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_count TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_count TO weft_system;
GRANT SELECT ON TABLE weft.group_count TO weft_api;
GRANT SELECT ON TABLE weft.group_count TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_hold TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_hold TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_usage TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.group_usage TO weft_system;
GRANT SELECT ON TABLE weft.group_usage TO weft_api;
GRANT SELECT ON TABLE weft.group_usage TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.held_ready TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.held_ready TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_array TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_array TO weft_system;
GRANT SELECT ON TABLE weft.job_array TO weft_api;
GRANT SELECT ON TABLE weft.job_array TO weft_driver;
GRANT SELECT ON TABLE weft.job_array TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_cache TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_cache TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_cancel TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_cancel TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_change TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_change TO weft_system;

GRANT SELECT(change_id) ON TABLE weft.job_change TO weft_api;
GRANT SELECT(change_id) ON TABLE weft.job_change TO weft_driver;

GRANT SELECT(batch_id) ON TABLE weft.job_change TO weft_api;
GRANT SELECT(batch_id) ON TABLE weft.job_change TO weft_driver;

GRANT SELECT(job_id) ON TABLE weft.job_change TO weft_api;
GRANT SELECT(job_id) ON TABLE weft.job_change TO weft_driver;

GRANT SELECT(tenant_id) ON TABLE weft.job_change TO weft_api;
GRANT SELECT(tenant_id) ON TABLE weft.job_change TO weft_driver;

GRANT SELECT(to_state) ON TABLE weft.job_change TO weft_api;
GRANT SELECT(to_state) ON TABLE weft.job_change TO weft_driver;

GRANT SELECT(subtype) ON TABLE weft.job_change TO weft_api;
GRANT SELECT(subtype) ON TABLE weft.job_change TO weft_driver;

GRANT USAGE ON SEQUENCE weft.job_change_change_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.job_change_change_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_command TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_command TO weft_system;

GRANT USAGE ON SEQUENCE weft.job_command_command_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.job_command_command_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_deadline TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_deadline TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_file TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_file TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_group TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_group TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_hold TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_hold TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_label TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_label TO weft_system;
GRANT SELECT ON TABLE weft.job_label TO weft_api;
GRANT SELECT ON TABLE weft.job_label TO weft_driver;
GRANT SELECT ON TABLE weft.job_label TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_note TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_note TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_spec TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_spec TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_state TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_state TO weft_system;
GRANT SELECT ON TABLE weft.job_state TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_status TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_status TO weft_system;
GRANT SELECT ON TABLE weft.job_status TO weft_views;

GRANT SELECT,INSERT ON TABLE weft.job_status_change TO weft_tenant;
GRANT SELECT,INSERT,DELETE ON TABLE weft.job_status_change TO weft_system;
GRANT SELECT ON TABLE weft.job_status_change TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_transition TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_transition TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lane TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lane TO weft_system;

GRANT USAGE ON SEQUENCE weft.lane_lane_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.lane_lane_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.last_audit TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.last_audit TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.late_job TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.late_job TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.licence TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.licence TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lifecycle TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lifecycle TO weft_system;
GRANT SELECT ON TABLE weft.lifecycle TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lifecycle_core TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lifecycle_core TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lifecycle_edge TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lifecycle_edge TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lifecycle_exit TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lifecycle_exit TO weft_system;

GRANT USAGE ON SEQUENCE weft.lifecycle_lifecycle_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.lifecycle_lifecycle_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lifecycle_move TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.lifecycle_move TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.look TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.look TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.machine TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.machine TO weft_system;

GRANT USAGE ON SEQUENCE weft.machine_machine_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.machine_machine_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.machine_sum TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.machine_sum TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.member_span TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.member_span TO weft_system;
GRANT SELECT ON TABLE weft.member_span TO weft_api;
GRANT SELECT ON TABLE weft.member_span TO weft_driver;

GRANT USAGE ON SEQUENCE weft.membership_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.membership_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.membership TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.membership TO weft_system;

GRANT USAGE ON SEQUENCE weft.operation_operation_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.operation_operation_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.output_term TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.output_term TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.parent_end TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.parent_end TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.place TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.place TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.pool_change TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.pool_change TO weft_system;

GRANT USAGE ON SEQUENCE weft.pool_change_change_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.pool_change_change_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.pool_cost TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.pool_cost TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.pool_load TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.pool_load TO weft_system;

GRANT USAGE ON SEQUENCE weft.pool_pool_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.pool_pool_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.preemption TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.preemption TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.product TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.product TO weft_system;
GRANT SELECT ON TABLE weft.product TO weft_api;
GRANT SELECT ON TABLE weft.product TO weft_driver;

GRANT USAGE ON SEQUENCE weft.product_product_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.product_product_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.project_usage TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.project_usage TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.queue TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.queue TO weft_system;
GRANT SELECT ON TABLE weft.queue TO weft_api;
GRANT SELECT ON TABLE weft.queue TO weft_driver;
GRANT SELECT ON TABLE weft.queue TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.queue_count TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.queue_count TO weft_system;

GRANT USAGE ON SEQUENCE weft.queue_queue_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.queue_queue_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.quota TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.quota TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.rate TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.rate TO weft_system;
GRANT SELECT ON TABLE weft.rate TO weft_api;
GRANT SELECT ON TABLE weft.rate TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.rate_card TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.rate_card TO weft_system;

GRANT USAGE ON SEQUENCE weft.rate_card_rate_card_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.rate_card_rate_card_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.rate_correction TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.rate_correction TO weft_system;

GRANT USAGE ON SEQUENCE weft.rate_correction_correction_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.rate_correction_correction_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.ready_job TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.ready_job TO weft_system;
GRANT SELECT ON TABLE weft.ready_job TO weft_api;
GRANT SELECT ON TABLE weft.ready_job TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.removed_usage TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.removed_usage TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.resource TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.resource TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.resubmitted_span TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.resubmitted_span TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.runnable TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.runnable TO weft_system;
GRANT SELECT ON TABLE weft.runnable TO weft_api;
GRANT SELECT ON TABLE weft.runnable TO weft_driver;

GRANT USAGE ON SEQUENCE weft.runnable_runnable_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.runnable_runnable_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.saved_query TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.saved_query TO weft_system;

GRANT USAGE ON SEQUENCE weft.schedule_schedule_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.schedule_schedule_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.schema_range TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.schema_range TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.service TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.service TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.setup TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.setup TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.shape TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.shape TO weft_system;
GRANT SELECT ON TABLE weft.shape TO weft_api;
GRANT SELECT ON TABLE weft.shape TO weft_driver;

GRANT USAGE ON SEQUENCE weft.shape_shape_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.shape_shape_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.sink TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.sink TO weft_system;
GRANT SELECT ON TABLE weft.sink TO weft_views;

GRANT USAGE ON SEQUENCE weft.sink_sink_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.sink_sink_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.skipped_batch TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.skipped_batch TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.source_item_change TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.source_item_change TO weft_system;
GRANT SELECT ON TABLE weft.source_item_change TO weft_views;

GRANT USAGE ON SEQUENCE weft.source_item_change_change_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.source_item_change_change_id_seq TO weft_system;

GRANT USAGE ON SEQUENCE weft.source_source_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.source_source_id_seq TO weft_system;

GRANT USAGE ON SEQUENCE weft.spend_limit_limit_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.spend_limit_limit_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.subscription TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.subscription TO weft_system;

GRANT USAGE ON SEQUENCE weft.subscription_subscription_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.subscription_subscription_id_seq TO weft_system;

GRANT USAGE ON SEQUENCE weft.tenant_tenant_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.tenant_tenant_id_seq TO weft_system;

GRANT USAGE ON SEQUENCE weft.tenant_user_user_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.tenant_user_user_id_seq TO weft_system;

GRANT USAGE ON SEQUENCE weft.token_token_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.token_token_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.topic_run TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.topic_run TO weft_system;

GRANT SELECT,UPDATE ON TABLE weft.trail_head TO weft_system;

GRANT SELECT ON TABLE weft.trail_unsealed TO weft_tenant;
GRANT SELECT,INSERT,DELETE ON TABLE weft.trail_unsealed TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.transport_cancel TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.transport_cancel TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.transport_depth TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.transport_depth TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.transport_offer TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.transport_offer TO weft_system;

GRANT USAGE ON SEQUENCE weft.transport_offer_offer_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.transport_offer_offer_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.transport_state TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.transport_state TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.usage_sum TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.usage_sum TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_batch_count TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_batch_count TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_count TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_count TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_minute TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_minute TO weft_system;
GRANT SELECT ON TABLE weft.user_minute TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_share TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_share TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_storage TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_storage TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_usage TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_usage TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.view_login TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.view_login TO weft_system;
GRANT SELECT ON TABLE weft.view_login TO weft_views;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker_change TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker_change TO weft_system;

GRANT USAGE ON SEQUENCE weft.worker_change_change_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.worker_change_change_id_seq TO weft_system;

GRANT USAGE ON SEQUENCE weft.worker_incarnation_incarnation_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.worker_incarnation_incarnation_id_seq TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker_lane TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker_lane TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker_sum TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker_sum TO weft_system;

GRANT USAGE ON SEQUENCE weft.worker_worker_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.worker_worker_id_seq TO weft_system;

ALTER DEFAULT PRIVILEGES FOR ROLE postgres IN SCHEMA weft GRANT USAGE ON SEQUENCES TO weft_tenant;
ALTER DEFAULT PRIVILEGES FOR ROLE postgres IN SCHEMA weft GRANT USAGE ON SEQUENCES TO weft_system;

ALTER DEFAULT PRIVILEGES FOR ROLE postgres IN SCHEMA weft GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES TO weft_tenant;
ALTER DEFAULT PRIVILEGES FOR ROLE postgres IN SCHEMA weft GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES TO weft_system;
