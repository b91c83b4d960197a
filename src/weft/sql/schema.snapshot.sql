-- Made by `make snapshot` from schema/ and functions/; do not edit.
-- It shows in a review what a change of either does. Bodies of functions are in functions/.

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
	chunk_bodies bytea[]
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
	share_jobs integer
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

CREATE FUNCTION weft._add_arrays(bunch weft.bunch, base integer, jobs weft.job_columns, shape_ids integer[], shape_lanes integer[], gate_sets integer[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._add_arrays(bunch weft.bunch, base integer, jobs weft.job_columns, shape_ids integer[], shape_lanes integer[], gate_sets integer[]) OWNER TO weft_tenant;

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

CREATE FUNCTION weft._add_bunch(of_update weft.batch_update, bunch weft.bunch, jobs weft.job_columns, limited text[], cores jsonb) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._add_bunch(of_update weft.batch_update, bunch weft.bunch, jobs weft.job_columns, limited text[], cores jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft._add_core_gates(of_tenant_id integer, of_batch_id bigint, of_job_ids integer[]) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._add_core_gates(of_tenant_id integer, of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._add_dead_letters(batch_ids bigint[], job_ids integer[], reasons smallint[], exit_codes integer[], signals smallint[], messages text[], at timestamp with time zone) RETURNS void
    LANGUAGE sql
    SET enable_hashjoin TO 'on';
ALTER FUNCTION weft._add_dead_letters(batch_ids bigint[], job_ids integer[], reasons smallint[], exit_codes integer[], signals smallint[], messages text[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._add_details(bunch weft.bunch, base integer, jobs weft.job_columns) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._add_details(bunch weft.bunch, base integer, jobs weft.job_columns) OWNER TO weft_tenant;

CREATE FUNCTION weft._add_edges(bunch weft.bunch, base integer, edge_children integer[], edge_parents integer[], OUT n_parents integer[], OUT bad_children integer[], OUT cross_children integer[]) RETURNS record
    LANGUAGE plpgsql;
ALTER FUNCTION weft._add_edges(bunch weft.bunch, base integer, edge_children integer[], edge_parents integer[], OUT n_parents integer[], OUT bad_children integer[], OUT cross_children integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._add_failures(batch_ids bigint[], group_ids integer[], ns integer[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._add_failures(batch_ids bigint[], group_ids integer[], ns integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._add_members(tenant_id integer, of_batch_id bigint, set_id integer, of_job_ids integer[], sets_max integer, at timestamp with time zone, OUT n_added integer, OUT busy integer[]) RETURNS record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._add_members(tenant_id integer, of_batch_id bigint, set_id integer, of_job_ids integer[], sets_max integer, at timestamp with time zone, OUT n_added integer, OUT busy integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._add_ranges(batch_ids bigint[], update_ids integer[], lane_ids integer[], first_jobs integer[], last_jobs integer[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._add_ranges(batch_ids bigint[], update_ids integer[], lane_ids integer[], first_jobs integer[], last_jobs integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._add_rows(bunch weft.bunch, base integer, jobs weft.job_columns, shape_ids integer[], shape_lanes integer[], gate_sets integer[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._add_rows(bunch weft.bunch, base integer, jobs weft.job_columns, shape_ids integer[], shape_lanes integer[], gate_sets integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._add_set(tenant_id integer, batch_id bigint, group_id integer, update_id integer, name text, attributes jsonb, cancel_after integer, callback text, hidden boolean, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._add_set(tenant_id integer, batch_id bigint, group_id integer, update_id integer, name text, attributes jsonb, cancel_after integer, callback text, hidden boolean, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._add_to_shares(pool_ids integer[], user_ids integer[], ready bigint[], ready_m bigint[], running_m bigint[]) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._add_to_shares(pool_ids integer[], user_ids integer[], ready bigint[], ready_m bigint[], running_m bigint[]) OWNER TO weft_system;

CREATE FUNCTION weft._add_tree_group(of_tenant_id integer, of_batch_id bigint, of_update_id integer, of_group_id integer, of_parent_id integer, new_name text, new_attributes jsonb, cancel_after integer, new_callback text, depth_max integer, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._add_tree_group(of_tenant_id integer, of_batch_id bigint, of_update_id integer, of_group_id integer, of_parent_id integer, new_name text, new_attributes jsonb, cancel_after integer, new_callback text, depth_max integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._add_update_ranges(of_batch_id bigint, of_update_id integer, pool_id integer, user_id integer, lane_ids integer[]) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off';
ALTER FUNCTION weft._add_update_ranges(of_batch_id bigint, of_update_id integer, pool_id integer, user_id integer, lane_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._admissible_jobs(of_limit_ids integer[], limit_jobs integer, at timestamp with time zone) RETURNS TABLE(place bigint, batch_id bigint, job_id integer, next_attempt smallint, limit_id integer, used_per_hour numeric)
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._admissible_jobs(of_limit_ids integer[], limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._admit_head(of_gate_set_ids integer[], of_pool_id integer, of_user_id integer, locked_gate_ids integer[], limit_jobs integer, with_paused boolean, at timestamp with time zone, apart boolean, OUT n integer, OUT is_left boolean, OUT kept integer[]) RETURNS record
    LANGUAGE plpgsql;
ALTER FUNCTION weft._admit_head(of_gate_set_ids integer[], of_pool_id integer, of_user_id integer, locked_gate_ids integer[], limit_jobs integer, with_paused boolean, at timestamp with time zone, apart boolean, OUT n integer, OUT is_left boolean, OUT kept integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._admit_jobs(of_pool_id integer, of_user_id integer, gate_set_ids integer[], batch_ids bigint[], job_ids integer[], ranges bigint[], at timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft._admit_jobs(of_pool_id integer, of_user_id integer, gate_set_ids integer[], batch_ids bigint[], job_ids integer[], ranges bigint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._announce(pool_ids integer[] DEFAULT '{}'::integer[], user_ids integer[] DEFAULT '{}'::integer[], lane_ids integer[] DEFAULT '{}'::integer[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan';
ALTER FUNCTION weft._announce(pool_ids integer[], user_ids integer[], lane_ids integer[]) OWNER TO weft_system;

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

CREATE FUNCTION weft._announce_operation(operation weft.operation, kind text, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._announce_operation(operation weft.operation, kind text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._as_tenant(tenant_id integer) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._as_tenant(tenant_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._ask_for_more(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._ask_for_more(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._ask_to_admit(of_batch_id bigint) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._ask_to_admit(of_batch_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._attempt_to_tell(of_batch_id bigint, of_job_id integer, what text, OUT attempt smallint, OUT incarnation_id integer) RETURNS record
    LANGUAGE plpgsql;
ALTER FUNCTION weft._attempt_to_tell(of_batch_id bigint, of_job_id integer, what text, OUT attempt smallint, OUT incarnation_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._attempts(of_batch_id bigint, of_job_id integer) RETURNS TABLE(attempt smallint, worker text, state text, to_state smallint, phase smallint, reason smallint, exit_code integer, signal smallint, claimed_at timestamp with time zone, started_at timestamp with time zone, ended_at timestamp with time zone, cpu_ms bigint, memory_peak_bytes bigint, stdout_bytes bigint, stderr_bytes bigint, truncated boolean, message text, cost numeric, cost_by_resource jsonb)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._attempts(of_batch_id bigint, of_job_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._bad_parent(of_batch_id bigint, of_job_id integer, it_was boolean) RETURNS text
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._bad_parent(of_batch_id bigint, of_job_id integer, it_was boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._batch_pools(of_batch_id bigint) RETURNS integer[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._batch_pools(of_batch_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft._batch_terms(of_batch_id bigint, ranged boolean) RETURNS TABLE(is_closed boolean, has_cancel boolean, has_switch boolean, lookahead_jobs integer)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._batch_terms(of_batch_id bigint, ranged boolean) OWNER TO weft_system;

CREATE FUNCTION weft._begin_core_sweep(of_tenant_id integer, of_user_id integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._begin_core_sweep(of_tenant_id integer, of_user_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._begin_creating(of_batch_id bigint, of_job_id integer, of_pool_id integer, cpu_m bigint, memory_mib bigint) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._begin_creating(of_batch_id bigint, of_job_id integer, of_pool_id integer, cpu_m bigint, memory_mib bigint) OWNER TO weft_system;

CREATE FUNCTION weft._begin_deadlines(of_batch_id bigint, from_job integer, to_job integer, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._begin_deadlines(of_batch_id bigint, from_job integer, to_job integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._black_holes() RETURNS TABLE(worker_id integer, worker text, pool_id integer, n_tries integer, outcome text, due_at timestamp with time zone)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._black_holes() OWNER TO weft_system;

CREATE FUNCTION weft._black_holes_due() RETURNS interval
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._black_holes_due() OWNER TO weft_system;

CREATE FUNCTION weft._block_jobs(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._block_jobs(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._bunch_lanes(shape_lanes integer[], shape_indexes integer[], entry_ns integer[], OUT firsts integer[], OUT lane_ids integer[]) RETURNS record
    LANGUAGE plpgsql IMMUTABLE;
ALTER FUNCTION weft._bunch_lanes(shape_lanes integer[], shape_indexes integer[], entry_ns integer[], OUT firsts integer[], OUT lane_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._caller_id() RETURNS integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._caller_id() OWNER TO weft_tenant;

CREATE FUNCTION weft._can_hold(of_pool_id integer, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._can_hold(of_pool_id integer, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint) OWNER TO weft_system;

CREATE TABLE weft.spend_limit (
    limit_id integer NOT NULL,
    tenant_id integer NOT NULL,
    project_id integer,
    amount_max numeric,
    amount_soft_max numeric,
    on_limit text DEFAULT 'pause'::text NOT NULL,
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

CREATE FUNCTION weft._cancel_for_limit(reached weft.spend_limit, limit_rows integer) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft._cancel_for_limit(reached weft.spend_limit, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft._cancel_group(batch_id bigint, group_id integer, actor text, force boolean, at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._cancel_group(batch_id bigint, group_id integer, actor text, force boolean, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._cancelled_groups(of_batch_id bigint) RETURNS int4multirange
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._cancelled_groups(of_batch_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft._cause_id(reason smallint, exit_code integer, signal smallint, message text) RETURNS bigint
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._cause_id(reason smallint, exit_code integer, signal smallint, message text) OWNER TO weft_system;

CREATE FUNCTION weft._cause_name(of_cause_id bigint) RETURNS text
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._cause_name(of_cause_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._causes(of_batch_id bigint) RETURNS TABLE(batch_id bigint, cause_id bigint, reason smallint, exit_code integer, signal smallint, message text, n_jobs bigint, n_acknowledged bigint, failed_at timestamp with time zone)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._causes(of_batch_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_batch(of_batch_id bigint) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_batch(of_batch_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_bunch(of_update weft.batch_update, bunch weft.bunch) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_bunch(of_update weft.batch_update, bunch weft.bunch) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_bytes(of_tenant_id integer, of_user_id integer, more bigint) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_bytes(of_tenant_id integer, of_user_id integer, more bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_capacity(cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu bigint, offers jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE;
ALTER FUNCTION weft._check_capacity(cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu bigint, offers jsonb) OWNER TO weft_system;

CREATE FUNCTION weft._check_complete(of_batch_id bigint, of_update_id integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_complete(of_batch_id bigint, of_update_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_epoch(of_epoch bigint) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_epoch(of_epoch bigint) OWNER TO weft_system;

CREATE FUNCTION weft._check_group(of_batch_id bigint, of_group_id integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_group(of_batch_id bigint, of_group_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_job(of_batch_id bigint, of_job_id integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_job(of_batch_id bigint, of_job_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_jobs(of_batch_id bigint, of_job_ids integer[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_jobs(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_liftable(of_batch_id bigint, of_group_id integer, as_whole boolean) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_liftable(of_batch_id bigint, of_group_id integer, as_whole boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_open(of_batch_id bigint, of_group_id integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_open(of_batch_id bigint, of_group_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_permission(of_batch_id bigint, permission integer, what text) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_permission(of_batch_id bigint, permission integer, what text) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_pools(of_tenant_id integer, names text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._check_pools(of_tenant_id integer, names text[]) OWNER TO weft_system;

CREATE FUNCTION weft._check_queues(offers jsonb) RETURNS void
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._check_queues(offers jsonb) OWNER TO weft_system;

CREATE FUNCTION weft._check_quotas(of_tenant_id integer, of_update weft.batch_update) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_quotas(of_tenant_id integer, of_update weft.batch_update) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_resubmitted(of_batch_id bigint, failed boolean) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_resubmitted(of_batch_id bigint, failed boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_retried(of_batch_id bigint, of_job_ids integer[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_retried(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_room(of_batch_id bigint, n_groups integer, groups_max integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_room(of_batch_id bigint, n_groups integer, groups_max integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._check_term(of_epoch bigint) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_term(of_epoch bigint) OWNER TO weft_system;

CREATE FUNCTION weft._check_waiting(of_tenant_id integer, of_batch_id bigint, of_update_id integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._check_waiting(of_tenant_id integer, of_batch_id bigint, of_update_id integer) OWNER TO weft_tenant;

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
    draining boolean DEFAULT false NOT NULL,
    ended_at timestamp with time zone,
    offers jsonb,
    log_place text,
    log_directory text,
    cordoned boolean DEFAULT false NOT NULL,
    trying boolean DEFAULT false NOT NULL,
    CONSTRAINT worker_incarnation_cpu_m_check CHECK ((cpu_m > 0)),
    CONSTRAINT worker_incarnation_gpu_check CHECK ((gpu >= 0)),
    CONSTRAINT worker_incarnation_log_directory_check CHECK ((length(log_directory) <= 4096)),
    CONSTRAINT worker_incarnation_log_place_check CHECK ((length(log_place) <= 64)),
    CONSTRAINT worker_incarnation_memory_mib_check CHECK ((memory_mib > 0)),
    CONSTRAINT worker_incarnation_storage_mib_check CHECK ((storage_mib >= 0))
)
WITH (fillfactor='50');
ALTER TABLE weft.worker_incarnation OWNER TO postgres;

CREATE FUNCTION weft._claim_kept(worker weft.worker_incarnation, kept weft.reservation, rate_card_id smallint, call bigint, at timestamp with time zone) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, spec_first integer, runnable_id bigint, chunk bytea)
    LANGUAGE plpgsql;
ALTER FUNCTION weft._claim_kept(worker weft.worker_incarnation, kept weft.reservation, rate_card_id smallint, call bigint, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._closed_gates(of_batch_id bigint, of_job_id integer, of_gate_set_ids integer[], at timestamp with time zone) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._closed_gates(of_batch_id bigint, of_job_id integer, of_gate_set_ids integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._commit_copy(operation weft.operation, new_batch bigint, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._commit_copy(operation weft.operation, new_batch bigint, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._completed_at(created_at timestamp with time zone, last_ended_at timestamp with time zone, recorded timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._completed_at(created_at timestamp with time zone, last_ended_at timestamp with time zone, recorded timestamp with time zone) OWNER TO weft_system;

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
    CONSTRAINT condition_allowance_check CHECK ((allowance > 0)),
    CONSTRAINT condition_kind_check CHECK (((length(kind) >= 1) AND (length(kind) <= 64))),
    CONSTRAINT condition_n_going_check CHECK ((n_going >= 0)),
    CONSTRAINT condition_tester_check CHECK (((length(tester) >= 1) AND (length(tester) <= 64)))
);
ALTER TABLE weft.condition OWNER TO postgres;

CREATE FUNCTION weft._condition_document(c weft.condition) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._condition_document(c weft.condition) OWNER TO weft_tenant;

CREATE FUNCTION weft._conditions_due(busy bigint[]) RETURNS interval
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._conditions_due(busy bigint[]) OWNER TO weft_system;

CREATE FUNCTION weft._confirm_stops(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], are_gone boolean, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._confirm_stops(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], are_gone boolean, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._copy_parts(from_batch bigint, to_batch bigint, arguments jsonb, limit_rows integer, has_quota boolean, OUT copied jsonb) RETURNS jsonb
    LANGUAGE plpgsql;
ALTER FUNCTION weft._copy_parts(from_batch bigint, to_batch bigint, arguments jsonb, limit_rows integer, has_quota boolean, OUT copied jsonb) OWNER TO weft_system;

CREATE FUNCTION weft._cordon(of_name text, of_pool text, actor text, reason text, drains boolean) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._cordon(of_name text, of_pool text, actor text, reason text, drains boolean) OWNER TO weft_system;

CREATE FUNCTION weft._core_gates(of_tenant_id integer, of_user_id integer, of_batch_id bigint) RETURNS jsonb
    LANGUAGE plpgsql;
ALTER FUNCTION weft._core_gates(of_tenant_id integer, of_user_id integer, of_batch_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._core_gates_to_come(of_batch_id bigint, of_job_id integer) RETURNS TABLE(gate_id integer, cost integer)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._core_gates_to_come(of_batch_id bigint, of_job_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._core_sets(bunch weft.bunch, jobs weft.job_columns, cores jsonb) RETURNS integer[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._core_sets(bunch weft.bunch, jobs weft.job_columns, cores jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft._costs_of_parts(parts weft.cost_part[]) RETURNS TABLE(owner bigint, cost numeric, cost_by_resource jsonb)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._costs_of_parts(parts weft.cost_part[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._costs_of_usage(owners bigint[], rate_card_ids smallint[], shape_ids integer[], usage_ms_list numeric[]) RETURNS TABLE(owner bigint, cost numeric, cost_by_resource jsonb)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._costs_of_usage(owners bigint[], rate_card_ids smallint[], shape_ids integer[], usage_ms_list numeric[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._costs_under_rates(version smallint) RETURNS TABLE(project_id integer, cost numeric)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._costs_under_rates(version smallint) OWNER TO weft_tenant;

CREATE FUNCTION weft._count_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._count_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._count_failures(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._count_failures(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._count_machines(machine_ids integer[], shares double precision[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._count_machines(machine_ids integer[], shares double precision[]) OWNER TO weft_system;

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

CREATE FUNCTION weft._count_minutes(sums weft.job_delta[], old pg_snapshot, new pg_snapshot, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._count_minutes(sums weft.job_delta[], old pg_snapshot, new pg_snapshot, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._count_notes(of_gate_ids integer[]) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._count_notes(of_gate_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._count_stored(sums weft.job_delta[]) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._count_stored(sums weft.job_delta[]) OWNER TO weft_system;

CREATE FUNCTION weft._count_usage(sums weft.job_delta[]) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._count_usage(sums weft.job_delta[]) OWNER TO weft_system;

CREATE FUNCTION weft._count_users(sums weft.job_delta[]) RETURNS TABLE(pool_id integer, user_id integer, n_ready bigint, ready_m bigint, running_m bigint)
    LANGUAGE sql;
ALTER FUNCTION weft._count_users(sums weft.job_delta[]) OWNER TO weft_system;

CREATE FUNCTION weft._count_worker() RETURNS trigger
    LANGUAGE plpgsql;
ALTER FUNCTION weft._count_worker() OWNER TO postgres;

CREATE FUNCTION weft._counted_failures(of_batch_id bigint, of_job_ids integer[]) RETURNS TABLE(group_id integer, n integer)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._counted_failures(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._create_batch(tenant_id integer, user_id integer, batch jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) RETURNS TABLE(batch_id bigint, is_new boolean)
    LANGUAGE plpgsql;
ALTER FUNCTION weft._create_batch(tenant_id integer, user_id integer, batch jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._create_operation(tenant_id integer, user_id integer, batch_id bigint, kind text, arguments jsonb, n_total bigint, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql;
ALTER FUNCTION weft._create_operation(tenant_id integer, user_id integer, batch_id bigint, kind text, arguments jsonb, n_total bigint, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._database_facts(limit_rows integer) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._database_facts(limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft._deactivate_idle_users() RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._deactivate_idle_users() OWNER TO weft_system;

CREATE FUNCTION weft._deadlines_due() RETURNS interval
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._deadlines_due() OWNER TO weft_system;

CREATE FUNCTION weft._delete_worker(of_worker_id integer, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._delete_worker(of_worker_id integer, at timestamp with time zone) OWNER TO weft_system;

CREATE TABLE weft.callback_delivery (
    delivery_id bigint NOT NULL,
    name uuid DEFAULT gen_random_uuid() NOT NULL,
    batch_id bigint NOT NULL,
    group_id integer NOT NULL,
    completion integer NOT NULL,
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
    CONSTRAINT callback_delivery_last_error_check CHECK ((length(last_error) <= 1024))
);
ALTER TABLE weft.callback_delivery OWNER TO postgres;

CREATE FUNCTION weft._delivery_document(delivery weft.callback_delivery) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._delivery_document(delivery weft.callback_delivery) OWNER TO weft_tenant;

CREATE FUNCTION weft._end_as_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, kind text, message text) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._end_as_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, kind text, message text) OWNER TO weft_system;

CREATE FUNCTION weft._end_by_rules(rules jsonb, of_reason smallint, exit_code integer, signal smallint, OUT reason smallint, OUT is_final boolean) RETURNS record
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._end_by_rules(rules jsonb, of_reason smallint, exit_code integer, signal smallint, OUT reason smallint, OUT is_final boolean) OWNER TO weft_system;

CREATE FUNCTION weft._end_late(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._end_late(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._end_operation(of_operation_id bigint, error jsonb, result jsonb, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._end_operation(of_operation_id bigint, error jsonb, result jsonb, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._end_overdue(of_batch_id bigint, after_job integer, last_job integer, at timestamp with time zone) RETURNS TABLE(n_jobs integer, message text)
    LANGUAGE plpgsql;
ALTER FUNCTION weft._end_overdue(of_batch_id bigint, after_job integer, last_job integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._end_parents(batch_ids bigint[], child_ids integer[], oks boolean[], by_range boolean, noted boolean, at timestamp with time zone, OUT ended_batches bigint[], OUT ended_jobs integer[], OUT has_opened boolean) RETURNS record
    LANGUAGE plpgsql;
ALTER FUNCTION weft._end_parents(batch_ids bigint[], child_ids integer[], oks boolean[], by_range boolean, noted boolean, at timestamp with time zone, OUT ended_batches bigint[], OUT ended_jobs integer[], OUT has_opened boolean) OWNER TO weft_system;

CREATE FUNCTION weft._end_rules(of_batch_id bigint, of_job_id integer, of_spec_first integer) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._end_rules(of_batch_id bigint, of_job_id integer, of_spec_first integer) OWNER TO weft_system;

CREATE FUNCTION weft._end_sleep() RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._end_sleep() OWNER TO weft_system;

CREATE FUNCTION weft._end_surplus_sessions(of_user_id integer, of_session bigint, sessions_max integer, at timestamp with time zone) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._end_surplus_sessions(of_user_id integer, of_session bigint, sessions_max integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._end_tokens(of_user_id integer, of_tokens bigint[]) RETURNS bigint
    LANGUAGE sql;
ALTER FUNCTION weft._end_tokens(of_user_id integer, of_tokens bigint[]) OWNER TO weft_system;

CREATE FUNCTION weft._end_waiting(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, error_kind text DEFAULT NULL::text, error_message text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql;
ALTER FUNCTION weft._end_waiting(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, error_kind text, error_message text) OWNER TO weft_system;

CREATE FUNCTION weft._end_waiting_as_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, kind text, message text) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._end_waiting_as_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, kind text, message text) OWNER TO weft_system;

CREATE FUNCTION weft._error_change(of_batch_id bigint, of_job_id integer, OUT reason smallint, OUT message text) RETURNS record
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._error_change(of_batch_id bigint, of_job_id integer, OUT reason smallint, OUT message text) OWNER TO weft_tenant;

CREATE FUNCTION weft._fail(code text, message text, detail text, hint text) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._fail(code text, message text, detail text, hint text) OWNER TO weft_system;

CREATE FUNCTION weft._failed_batches(of_tenant_id integer, upto bigint, are_acknowledged boolean, of_cause_id bigint, of_reason smallint) RETURNS SETOF bigint
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._failed_batches(of_tenant_id integer, upto bigint, are_acknowledged boolean, of_cause_id bigint, of_reason smallint) OWNER TO weft_tenant;

CREATE FUNCTION weft._fair_shares(of_pool_id integer, budget_cpu_m bigint, users_max integer) RETURNS weft.shares
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._fair_shares(of_pool_id integer, budget_cpu_m bigint, users_max integer) OWNER TO weft_system;

CREATE FUNCTION weft._fill_gap(worker weft.worker_incarnation, within_s double precision, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, rate_card_id smallint, call bigint, at timestamp with time zone) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, spec_first integer, runnable_id bigint, chunk bytea)
    LANGUAGE plpgsql;
ALTER FUNCTION weft._fill_gap(worker weft.worker_incarnation, within_s double precision, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, rate_card_id smallint, call bigint, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._find_group(of_batch_id bigint, of_group_id integer, of_path text) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft._find_group(of_batch_id bigint, of_group_id integer, of_path text) OWNER TO weft_tenant;

CREATE FUNCTION weft._find_operation(of_user_id integer, of_key text, of_digest bytea) RETURNS bigint
    LANGUAGE plpgsql;
ALTER FUNCTION weft._find_operation(of_user_id integer, of_key text, of_digest bytea) OWNER TO weft_tenant;

CREATE FUNCTION weft._name_key(name text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE;
ALTER FUNCTION weft._name_key(name text) OWNER TO postgres;

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

CREATE FUNCTION weft._find_projects(of_tenant_id integer, of_names text[]) RETURNS SETOF weft.billing_project
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._find_projects(of_tenant_id integer, of_names text[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._find_resubmitted(of_batch_id bigint, new_batch bigint, failed boolean, from_job bigint, to_job bigint, limit_rows integer, at timestamp with time zone, OUT job_ids integer[], OUT upto bigint) RETURNS record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._find_resubmitted(of_batch_id bigint, new_batch bigint, failed boolean, from_job bigint, to_job bigint, limit_rows integer, at timestamp with time zone, OUT job_ids integer[], OUT upto bigint) OWNER TO weft_system;

CREATE FUNCTION weft._find_retried(of_batch_id bigint, named integer[], matching integer[], from_job bigint, to_job bigint, limit_rows integer, at timestamp with time zone, new_batch bigint DEFAULT NULL::bigint, lifted integer[] DEFAULT NULL::integer[], OUT job_ids integer[], OUT upto bigint, OUT n_late integer) RETURNS record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._find_retried(of_batch_id bigint, named integer[], matching integer[], from_job bigint, to_job bigint, limit_rows integer, at timestamp with time zone, new_batch bigint, lifted integer[], OUT job_ids integer[], OUT upto bigint, OUT n_late integer) OWNER TO weft_system;

CREATE FUNCTION weft._find_unreturned(batch_ids bigint[], job_ids integer[], states smallint[]) RETURNS smallint[]
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._find_unreturned(batch_ids bigint[], job_ids integer[], states smallint[]) OWNER TO weft_system;

CREATE FUNCTION weft._find_worker(of_name text, of_pool text, of_tenant_id integer) RETURNS integer
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._find_worker(of_name text, of_pool text, of_tenant_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._first_parents(of_batch_id bigint, of_job_id integer, limit_parents integer, limit_counted integer) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._first_parents(of_batch_id bigint, of_job_id integer, limit_parents integer, limit_counted integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._fit_budget(picked weft.picked, budget_cpu_m bigint, budget_memory_mib bigint, share_m bigint, at_least integer) RETURNS weft.picked
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._fit_budget(picked weft.picked, budget_cpu_m bigint, budget_memory_mib bigint, share_m bigint, at_least integer) OWNER TO weft_system;

CREATE TABLE weft.pool (
    pool_id integer NOT NULL,
    name text NOT NULL,
    plan jsonb,
    serves_tenant_id integer,
    CONSTRAINT pool_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256)))
);
ALTER TABLE weft.pool OWNER TO postgres;

CREATE FUNCTION weft._flavours(of_pool weft.pool) RETURNS TABLE(flavour text, cpu_m bigint, memory_mib bigint, offers jsonb)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._flavours(of_pool weft.pool) OWNER TO weft_system;

CREATE FUNCTION weft._fold_machine_sums(rows_max integer DEFAULT 200) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._fold_machine_sums(rows_max integer) OWNER TO weft_system;

CREATE FUNCTION weft._fold_worker_sums(rows_max integer DEFAULT 200) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._fold_worker_sums(rows_max integer) OWNER TO weft_system;

CREATE FUNCTION weft._follow_ends(incarnation_id integer, batch_ids bigint[], job_ids integer[], states smallint[], again boolean, failed boolean, frees boolean, at timestamp with time zone, ended_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._follow_ends(incarnation_id integer, batch_ids bigint[], job_ids integer[], states smallint[], again boolean, failed boolean, frees boolean, at timestamp with time zone, ended_at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._forget_failures(of_batch_id bigint, of_job_ids integer[]) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._forget_failures(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._free_places(batch_ids bigint[], job_ids integer[]) RETURNS integer[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._free_places(batch_ids bigint[], job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._furnish_tenant(of_tenant_id integer, of_user_id integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._furnish_tenant(of_tenant_id integer, of_user_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._gate_fields(of_batch_id bigint) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._gate_fields(of_batch_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft._gate_set_id(of_gate_ids integer[], costs integer[] DEFAULT NULL::integer[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._gate_set_id(of_gate_ids integer[], costs integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._gates_due() RETURNS interval
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._gates_due() OWNER TO weft_system;

CREATE FUNCTION weft._give_back(own_gate_ids integer[], batch_ids bigint[], job_ids integer[]) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft._give_back(own_gate_ids integer[], batch_ids bigint[], job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._give_core_gates(of_tenant_id integer, of_batch_id bigint, cores jsonb, after_job integer, limit_jobs integer) RETURNS integer
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._give_core_gates(of_tenant_id integer, of_batch_id bigint, cores jsonb, after_job integer, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft._group_costs(batch_ids bigint[], group_ids integer[], folded boolean DEFAULT false) RETURNS TABLE(batch_id bigint, group_id integer, cost numeric, cost_by_resource jsonb)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._group_costs(batch_ids bigint[], group_ids integer[], folded boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._group_counts(batch_ids bigint[], group_ids integer[], folded boolean DEFAULT false) RETURNS TABLE(batch_id bigint, group_id integer, n_pending bigint, n_ready bigint, n_queued bigint, n_creating bigint, n_running bigint, n_blocked bigint, n_succeeded bigint, n_failed bigint, n_errored bigint, n_cancelled bigint, last_ended_at timestamp with time zone)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._group_counts(batch_ids bigint[], group_ids integer[], folded boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._group_documents(batch_ids bigint[], group_ids integer[], folded boolean DEFAULT false) RETURNS TABLE(batch_id bigint, group_id integer, document jsonb)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._group_documents(batch_ids bigint[], group_ids integer[], folded boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._groups_of_limit(of_limit weft.spend_limit) RETURNS TABLE(batch_id bigint, group_id integer)
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._groups_of_limit(of_limit weft.spend_limit) OWNER TO weft_system;

CREATE FUNCTION weft._growth(of_pool_id integer, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._growth(of_pool_id integer, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint) OWNER TO weft_system;

CREATE FUNCTION weft._guards(of_batch_id bigint) RETURNS TABLE(batch_id bigint)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._guards(of_batch_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft._has_claimable(offer weft.offer, worker weft.worker_incarnation, has_cancel boolean, has_switch boolean, lookahead_jobs integer) RETURNS boolean
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._has_claimable(offer weft.offer, worker weft.worker_incarnation, has_cancel boolean, has_switch boolean, lookahead_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft._has_failure(reasons smallint[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._has_failure(reasons smallint[]) OWNER TO weft_system;

CREATE FUNCTION weft._has_lease(of_pool_id integer, of_lanes integer[], claimed_max integer DEFAULT 10000) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._has_lease(of_pool_id integer, of_lanes integer[], claimed_max integer) OWNER TO weft_system;

CREATE FUNCTION weft._has_new_claims(of_pool_id integer, of_user_id integer) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._has_new_claims(of_pool_id integer, of_user_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._has_preempted(of_batch_id bigint, of_job_id integer) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._has_preempted(of_batch_id bigint, of_job_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._has_switch(of_batch_id bigint) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._has_switch(of_batch_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft._has_work(of_incarnation_id integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._has_work(of_incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._heartbeat(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], draining boolean, claiming boolean DEFAULT false, heard bigint[] DEFAULT '{}'::bigint[], at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(alive boolean, has_work boolean, stop_batch_ids bigint[], stop_job_ids integer[], stop_attempts smallint[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._heartbeat(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], draining boolean, claiming boolean, heard bigint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._hold_for_limit(of_batch_ids bigint[], of_group_ids integer[], of_limit weft.spend_limit, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._hold_for_limit(of_batch_ids bigint[], of_group_ids integer[], of_limit weft.spend_limit, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._holds_of(of_batch_id bigint, of_group_id integer, of_job_id integer) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._holds_of(of_batch_id bigint, of_group_id integer, of_job_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._intern_gates(of_tenant_id integer, of_batch_id bigint, lists jsonb[]) RETURNS integer[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._intern_gates(of_tenant_id integer, of_batch_id bigint, lists jsonb[]) OWNER TO weft_system;

CREATE FUNCTION weft._intern_more(of_batch_id bigint, of_job_ids integer[], asked jsonb) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._intern_more(of_batch_id bigint, of_job_ids integer[], asked jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft._is_behind(operation weft.operation, VARIADIC kinds text[]) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_behind(operation weft.operation, VARIADIC kinds text[]) OWNER TO weft_system;

CREATE FUNCTION weft._is_cancelled(of_batch_id bigint, of_group_id integer, always_run boolean) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_cancelled(of_batch_id bigint, of_group_id integer, always_run boolean) OWNER TO weft_system;

CREATE FUNCTION weft._is_closed(of_batch_id bigint, of_group_id integer, of_job_id integer) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_closed(of_batch_id bigint, of_group_id integer, of_job_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._is_held(of_batch_id bigint, of_group_id integer, of_job_id integer) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_held(of_batch_id bigint, of_group_id integer, of_job_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._is_late(of_batch_id bigint, of_job_id integer, at timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_late(of_batch_id bigint, of_job_id integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._is_member(of_batch_id bigint, of_group_id integer, of_ancestor_id integer) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_member(of_batch_id bigint, of_group_id integer, of_ancestor_id integer) OWNER TO weft_tenant;

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
    CONSTRAINT machine_used_share_check CHECK (((used_share >= (0)::double precision) AND (used_share <= (1)::double precision)))
);
ALTER TABLE weft.machine OWNER TO postgres;

CREATE FUNCTION weft._is_own_needed(m weft.machine, of_incarnation_id integer) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_own_needed(m weft.machine, of_incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._is_paused(of_gate_set_id integer, of_pool_id integer, of_shape_id integer, at timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_paused(of_gate_set_id integer, of_pool_id integer, of_shape_id integer, at timestamp with time zone) OWNER TO weft_system;

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
    lane_id integer DEFAULT 0 NOT NULL,
    gate_set_id integer
)
WITH (fillfactor='45', autovacuum_vacuum_insert_threshold='-1', autovacuum_vacuum_threshold='200000', autovacuum_vacuum_scale_factor='0.2', autovacuum_analyze_scale_factor='0.1', autovacuum_vacuum_cost_delay='2', autovacuum_vacuum_cost_limit='1000');
ALTER TABLE weft.job OWNER TO postgres;

COMMENT ON COLUMN weft.job.retry_on IS 'bits by reason; bit 0: its retries wait as its field `retry` says';

CREATE FUNCTION weft._is_preemptible(job weft.job) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_preemptible(job weft.job) OWNER TO weft_system;

CREATE FUNCTION weft._is_same_bunch(of_batch_id bigint, of_update_id integer, of_first_job integer, of_n_jobs integer, of_digest bytea) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_same_bunch(of_batch_id bigint, of_update_id integer, of_first_job integer, of_n_jobs integer, of_digest bytea) OWNER TO weft_tenant;

CREATE FUNCTION weft._is_shut(of_batch_id bigint) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_shut(of_batch_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft._is_stopping(of_batch_id bigint, group_ids integer[]) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_stopping(of_batch_id bigint, group_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._is_untouched(x xid, snapshot pg_snapshot) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._is_untouched(x xid, snapshot pg_snapshot) OWNER TO weft_system;

CREATE FUNCTION weft._is_within(ranges jsonb, code integer) RETURNS boolean
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._is_within(ranges jsonb, code integer) OWNER TO weft_system;

CREATE FUNCTION weft._job_documents(of_batch_id bigint, of_job_ids integer[]) RETURNS TABLE(job_id integer, document jsonb)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._job_documents(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._job_gate_sets(bunch weft.bunch, base integer, jobs weft.job_columns) RETURNS integer[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._job_gate_sets(bunch weft.bunch, base integer, jobs weft.job_columns) OWNER TO weft_tenant;

CREATE FUNCTION weft._job_gates(of_batch_set integer, of_job_set integer) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._job_gates(of_batch_set integer, of_job_set integer) OWNER TO weft_system;

CREATE FUNCTION weft._job_span(of_batch_id bigint, of_group_id integer) RETURNS TABLE(low integer, high integer)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._job_span(of_batch_id bigint, of_group_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._jobs_left(stopped_at weft.offer, after_job integer, of_pool_id integer, lanes integer[], shares weft.shares, at_most integer) RETURNS integer
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._jobs_left(stopped_at weft.offer, after_job integer, of_pool_id integer, lanes integer[], shares weft.shares, at_most integer) OWNER TO weft_system;

CREATE FUNCTION weft._jobs_that_fit(offer weft.offer, budget_cpu_m bigint, budget_memory_mib bigint) RETURNS integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._jobs_that_fit(offer weft.offer, budget_cpu_m bigint, budget_memory_mib bigint) OWNER TO weft_system;

CREATE FUNCTION weft._join_conditions(batch_ids bigint[], job_ids integer[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._join_conditions(batch_ids bigint[], job_ids integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._judge_ends(batch_ids bigint[], job_ids integer[], attempts smallint[], reported smallint[], exit_codes integer[], signals smallint[], at timestamp with time zone, OUT reasons smallint[], OUT finals boolean[]) RETURNS record
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._judge_ends(batch_ids bigint[], job_ids integer[], attempts smallint[], reported smallint[], exit_codes integer[], signals smallint[], at timestamp with time zone, OUT reasons smallint[], OUT finals boolean[]) OWNER TO weft_system;

CREATE FUNCTION weft._keep_for_job(of_incarnation_id integer, of_pool_id integer, of_name text) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._keep_for_job(of_incarnation_id integer, of_pool_id integer, of_name text) OWNER TO weft_system;

CREATE FUNCTION weft._kept_bytes(stdout_bytes bigint, stderr_bytes bigint, truncated boolean) RETURNS bigint
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._kept_bytes(stdout_bytes bigint, stderr_bytes bigint, truncated boolean) OWNER TO weft_system;

CREATE FUNCTION weft._kept_for(r weft.reservation) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._kept_for(r weft.reservation) OWNER TO weft_system;

CREATE FUNCTION weft._kept_worker(of_batch_id bigint, of_job_id integer) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._kept_worker(of_batch_id bigint, of_job_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._key_holders(of_tenant_id integer, of_key text, of_batch_id bigint, of_job_id integer, shown_max integer DEFAULT 10) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._key_holders(of_tenant_id integer, of_key text, of_batch_id bigint, of_job_id integer, shown_max integer) OWNER TO weft_system;

CREATE FUNCTION weft._known_workers() RETURNS SETOF weft.worker_incarnation
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._known_workers() OWNER TO weft_system;

CREATE FUNCTION weft._lane_ids(asks jsonb[]) RETURNS integer[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._lane_ids(asks jsonb[]) OWNER TO weft_system;

CREATE FUNCTION weft._lane_pool(of_lane_id integer, of_pool_id integer) RETURNS integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._lane_pool(of_lane_id integer, of_pool_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._lane_room(of_incarnation_id integer, of_lane_id integer, short_lanes integer[]) RETURNS integer
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._lane_room(of_incarnation_id integer, of_lane_id integer, short_lanes integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._lane_sections(lanes integer[], ns integer[], OUT firsts integer[], OUT lane_ids integer[]) RETURNS record
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._lane_sections(lanes integer[], ns integer[], OUT firsts integer[], OUT lane_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._lanes_with_work(of_pool_id integer, of_user_id integer, lanes integer[]) RETURNS integer[]
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._lanes_with_work(of_pool_id integer, of_user_id integer, lanes integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._last_run(of_batch_id bigint, of_job_id integer) RETURNS smallint
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._last_run(of_batch_id bigint, of_job_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._leave_creating(worker weft.worker_incarnation, of_batch_id bigint, of_job_id integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._leave_creating(worker weft.worker_incarnation, of_batch_id bigint, of_job_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._leave_spot(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._leave_spot(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._leave_to_sleeper(worker weft.worker_incarnation, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._leave_to_sleeper(worker weft.worker_incarnation, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint) OWNER TO weft_system;

CREATE FUNCTION weft._let_start(of_batch_id bigint, job_ids integer[], limit_ids integer[], attempts smallint[], per_hours numeric[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._let_start(of_batch_id bigint, job_ids integer[], limit_ids integer[], attempts smallint[], per_hours numeric[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._lift_limits(of_batch_id bigint, within_group integer, requested_at timestamp with time zone, actor text, at timestamp with time zone) RETURNS integer[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lift_limits(of_batch_id bigint, within_group integer, requested_at timestamp with time zone, actor text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._limit_cores(of_tenant_id integer, of_user_id integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._limit_cores(of_tenant_id integer, of_user_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._limit_documents(of_limit_ids integer[]) RETURNS SETOF jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._limit_documents(of_limit_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._limit_gate_sets(bunch weft.bunch, jobs weft.job_columns, limited text[], cores jsonb, gate_sets integer[]) RETURNS integer[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._limit_gate_sets(bunch weft.bunch, jobs weft.job_columns, limited text[], cores jsonb, gate_sets integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._limit_in_s(of_limit weft.spend_limit, used numeric, used_per_hour numeric) RETURNS numeric
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._limit_in_s(of_limit weft.spend_limit, used numeric, used_per_hour numeric) OWNER TO weft_system;

CREATE FUNCTION weft._limit_kind(of_limit weft.spend_limit) RETURNS text
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._limit_kind(of_limit weft.spend_limit) OWNER TO weft_tenant;

CREATE FUNCTION weft._limit_name(of_limit weft.spend_limit) RETURNS text
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._limit_name(of_limit weft.spend_limit) OWNER TO weft_tenant;

CREATE FUNCTION weft._limit_of(of_batch_id bigint, of_group_id integer, of_job_id integer) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._limit_of(of_batch_id bigint, of_group_id integer, of_job_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._limit_queues(of_tenant_id integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._limit_queues(of_tenant_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._limit_range(asks jsonb, OUT at_least_s integer, OUT at_most_s integer) RETURNS record
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._limit_range(asks jsonb, OUT at_least_s integer, OUT at_most_s integer) OWNER TO weft_system;

CREATE FUNCTION weft._limit_state(stage text, on_limit text, near boolean) RETURNS text
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._limit_state(stage text, on_limit text, near boolean) OWNER TO weft_system;

CREATE FUNCTION weft._limited_groups(of_batch_id bigint, within_group integer, until timestamp with time zone) RETURNS integer[]
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._limited_groups(of_batch_id bigint, within_group integer, until timestamp with time zone) OWNER TO weft_system;

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
    CONSTRAINT batch_cancel_after_n_failures_check CHECK ((cancel_after_n_failures > 0)),
    CONSTRAINT batch_door_check CHECK ((length(door) <= 32)),
    CONSTRAINT batch_foreign_trace_check CHECK ((length(foreign_trace) <= 100)),
    CONSTRAINT batch_max_running_check CHECK ((max_running > 0)),
    CONSTRAINT batch_name_check CHECK ((length(name) <= 1024))
)
WITH (fillfactor='80');
ALTER TABLE weft.batch OWNER TO postgres;

CREATE FUNCTION weft._limits_on_batch(of_batch weft.batch, of_user_id integer, after_id integer, limit_rows integer) RETURNS SETOF integer
    LANGUAGE sql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashagg TO 'off';
ALTER FUNCTION weft._limits_on_batch(of_batch weft.batch, of_user_id integer, after_id integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._list_ready(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._list_ready(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._live_attempts(of_incarnation_id integer) RETURNS SETOF weft.job
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._live_attempts(of_incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._live_jobs(of_incarnation_id integer) RETURNS TABLE(batch_id bigint, job_id integer, tenant_id integer, shape_id integer, spec_first integer, claimed_at timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._live_jobs(of_incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._lock_failure_counts(of_batch_id bigint, of_job_ids integer[]) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._lock_failure_counts(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._lock_for_bunch(of_batch_id bigint, jobs weft.job_columns, limited text[], cores jsonb) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lock_for_bunch(of_batch_id bigint, jobs weft.job_columns, limited text[], cores jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft._lock_gates(of_gate_ids integer[], waits boolean) RETURNS integer[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lock_gates(of_gate_ids integer[], waits boolean) OWNER TO weft_system;

CREATE FUNCTION weft._lock_jobs(of_batch_id bigint, of_job_ids integer[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lock_jobs(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._lock_limits(of_tenant_id integer, asked jsonb[], counts boolean) RETURNS text[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lock_limits(of_tenant_id integer, asked jsonb[], counts boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._lock_parents(of_batch_id bigint, base integer, edge_parents integer[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lock_parents(of_batch_id bigint, base integer, edge_parents integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._lock_project(of_tenant_id integer, of_name text) RETURNS weft.billing_project
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lock_project(of_tenant_id integer, of_name text) OWNER TO weft_tenant;

CREATE FUNCTION weft._lock_quotas(of_tenant_id integer, of_user_id integer, of_batch_id bigint, only_bytes boolean DEFAULT false) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lock_quotas(of_tenant_id integer, of_user_id integer, of_batch_id bigint, only_bytes boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._lock_users(of_tenant_id integer, by_user_id integer, by_role text) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lock_users(of_tenant_id integer, by_user_id integer, by_role text) OWNER TO weft_tenant;

CREATE FUNCTION weft._lock_waiting(of_batch_id bigint, of_job_ids integer[], of_shape_ids integer[]) RETURNS integer[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lock_waiting(of_batch_id bigint, of_job_ids integer[], of_shape_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._lock_worker(of_name text, of_pool text, OUT worker_id integer, OUT state text, OUT incarnation_id integer) RETURNS record
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lock_worker(of_name text, of_pool text, OUT worker_id integer, OUT state text, OUT incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._look_at_jobs(of_batch_id bigint, after_job integer, limit_jobs integer) RETURNS TABLE(n_read integer, last_job integer, n_live integer, orphans integer[], states smallint[])
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._look_at_jobs(of_batch_id bigint, after_job integer, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft._lookahead_jobs(of_batch_id bigint) RETURNS integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._lookahead_jobs(of_batch_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft._loops_due(grace_s double precision) RETURNS TABLE(loop text, due_in interval)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._loops_due(grace_s double precision) OWNER TO weft_system;

CREATE FUNCTION weft._loops_with_work() RETURNS text[]
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._loops_with_work() OWNER TO weft_system;

CREATE FUNCTION weft._lose_incarnation(of_incarnation_id integer, at timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lose_incarnation(of_incarnation_id integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._lose_unstopped(at timestamp with time zone) RETURNS TABLE(worker text)
    LANGUAGE plpgsql;
ALTER FUNCTION weft._lose_unstopped(at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._machine_costs(one weft.machine, upto timestamp with time zone) RETURNS TABLE(machine_us bigint, used_us double precision, cost numeric, used_cost numeric)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._machine_costs(one weft.machine, upto timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._machine_jobs(of_pool_id integer, limit_jobs integer) RETURNS TABLE(batch_id bigint, job_id integer, cpu_m integer, memory_mib integer, asks jsonb)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._machine_jobs(of_pool_id integer, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft._make_visible(of_update weft.batch_update, is_new_batch boolean, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._make_visible(of_update weft.batch_update, is_new_batch boolean, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._may_claim(job weft.job, of_batch_id bigint, has_cpu_m bigint, has_memory_mib bigint, has_cancel boolean, has_switch boolean) RETURNS TABLE(yes boolean)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._may_claim(job weft.job, of_batch_id bigint, has_cpu_m bigint, has_memory_mib bigint, has_cancel boolean, has_switch boolean) OWNER TO weft_system;

CREATE FUNCTION weft._may_open(batch_ids bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._may_open(batch_ids bigint[]) OWNER TO weft_system;

CREATE FUNCTION weft._may_open_span(of_batch_id bigint, of_first_job integer, of_last_job integer, n_jobs bigint) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._may_open_span(of_batch_id bigint, of_first_job integer, of_last_job integer, n_jobs bigint) OWNER TO weft_system;

CREATE FUNCTION weft._may_pass(of_batch_id bigint, of_group_id integer, of_job_id integer, always_run boolean) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._may_pass(of_batch_id bigint, of_group_id integer, of_job_id integer, always_run boolean) OWNER TO weft_system;

CREATE FUNCTION weft._may_try(of_incarnation_id integer) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._may_try(of_incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._member_groups(tenant_id integer, of_batch_id bigint, n_jobs integer, first_group integer, tree_ids integer[], combo_indexes integer[], combo_numbers integer[], combo_sets integer[]) RETURNS integer[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._member_groups(tenant_id integer, of_batch_id bigint, n_jobs integer, first_group integer, tree_ids integer[], combo_indexes integer[], combo_numbers integer[], combo_sets integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._members_of(of_project_id integer, members_max integer) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._members_of(of_project_id integer, members_max integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._membership_ids(tenant_id integer, of_batch_id bigint, tree_ids integer[], sets text[]) RETURNS integer[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._membership_ids(tenant_id integer, of_batch_id bigint, tree_ids integer[], sets text[]) OWNER TO weft_system;

CREATE FUNCTION weft._merged(attributes jsonb, patch jsonb, attributes_max integer) RETURNS jsonb
    LANGUAGE plpgsql;
ALTER FUNCTION weft._merged(attributes jsonb, patch jsonb, attributes_max integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._monitor_due() RETURNS interval
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._monitor_due() OWNER TO weft_system;

CREATE FUNCTION weft._monitor_of(of_tenant_id integer, of_lane_id integer) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._monitor_of(of_tenant_id integer, of_lane_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._more_asks(rules jsonb, last_steps integer[], asked_sizes jsonb, asked_words jsonb) RETURNS TABLE(steps integer[], sizes jsonb, words jsonb)
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._more_asks(rules jsonb, last_steps integer[], asked_sizes jsonb, asked_words jsonb) OWNER TO weft_system;

CREATE FUNCTION weft._more_rules(of_batch_id bigint, of_job_id integer, of_spec_first integer) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._more_rules(of_batch_id bigint, of_job_id integer, of_spec_first integer) OWNER TO weft_system;

CREATE FUNCTION weft._more_steps(rules jsonb, of_batch_id bigint, of_job_id integer, last_attempt integer) RETURNS integer[]
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._more_steps(rules jsonb, of_batch_id bigint, of_job_id integer, last_attempt integer) OWNER TO weft_system;

CREATE FUNCTION weft._more_text(old_shape integer, new_shape integer, is_all boolean, stays boolean) RETURNS text
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._more_text(old_shape integer, new_shape integer, is_all boolean, stays boolean) OWNER TO weft_system;

CREATE FUNCTION weft._more_time(rules jsonb, steps integer[]) RETURNS bigint
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._more_time(rules jsonb, steps integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._move_cascade(of_batch_id bigint, of_job_id integer, to_child integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._move_cascade(of_batch_id bigint, of_job_id integer, to_child integer) OWNER TO weft_system;

CREATE FUNCTION weft._move_members(tenant_id integer, of_batch_id bigint, of_pool_id integer, job_tids tid[], new_groups integer[], old_groups integer[], at timestamp with time zone) RETURNS bigint
    LANGUAGE sql;
ALTER FUNCTION weft._move_members(tenant_id integer, of_batch_id bigint, of_pool_id integer, job_tids tid[], new_groups integer[], old_groups integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._move_ranges(batch_ids bigint[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._move_ranges(batch_ids bigint[]) OWNER TO weft_system;

CREATE FUNCTION weft._move_rows(of_batch_id bigint, of_job_ids integer[], old_shapes integer[], new_shapes integer[], new_lanes integer[], queue_set integer, actor text, OUT sets integer[], OUT pools integer[]) RETURNS record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._move_rows(of_batch_id bigint, of_job_ids integer[], old_shapes integer[], new_shapes integer[], new_lanes integer[], queue_set integer, actor text, OUT sets integer[], OUT pools integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._move_to_core_gates(of_batch_id bigint, of_job_ids integer[], gate_sets integer[]) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._move_to_core_gates(of_batch_id bigint, of_job_ids integer[], gate_sets integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._moved_gate_set(own integer, of_queue integer) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._moved_gate_set(own integer, of_queue integer) OWNER TO weft_system;

CREATE FUNCTION weft._ms_between(from_at timestamp with time zone, to_at timestamp with time zone) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT;
ALTER FUNCTION weft._ms_between(from_at timestamp with time zone, to_at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._needed_permission() RETURNS integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._needed_permission() OWNER TO weft_tenant;

CREATE FUNCTION weft._next_offer(last weft.offer, of_pool_id integer, lanes integer[], shares weft.shares, only_shares boolean) RETURNS weft.offer
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._next_offer(last weft.offer, of_pool_id integer, lanes integer[], shares weft.shares, only_shares boolean) OWNER TO weft_system;

CREATE FUNCTION weft._next_open_batch(of_tenant_id integer, from_batch_id bigint) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._next_open_batch(of_tenant_id integer, from_batch_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft._next_span(of_batch_id bigint, of_group_id integer, after integer) RETURNS TABLE(first_job integer, last_job integer)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._next_span(of_batch_id bigint, of_group_id integer, after integer) OWNER TO weft_system;

CREATE FUNCTION weft._next_wait(of_batch_id bigint, of_job_id integer, of_spec_first integer, of_attempt smallint, of_reason smallint, counted integer, at timestamp with time zone) RETURNS double precision
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._next_wait(of_batch_id bigint, of_job_id integer, of_spec_first integer, of_attempt smallint, of_reason smallint, counted integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._no_condition(of_condition_id bigint) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._no_condition(of_condition_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._no_schedule(of_schedule_id bigint) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._no_schedule(of_schedule_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._no_tenant(of_name text) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._no_tenant(of_name text) OWNER TO weft_tenant;

CREATE FUNCTION weft._no_user(of_name text) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._no_user(of_name text) OWNER TO weft_tenant;

CREATE FUNCTION weft._note_claim(of_incarnation_id integer, of_pool_id integer, trying boolean, stopped_at weft.offer, taken integer[], n_jobs integer, lanes integer[], shares weft.shares) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._note_claim(of_incarnation_id integer, of_pool_id integer, trying boolean, stopped_at weft.offer, taken integer[], n_jobs integer, lanes integer[], shares weft.shares) OWNER TO weft_system;

CREATE FUNCTION weft._note_condition_batches() RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._note_condition_batches() OWNER TO weft_system;

CREATE FUNCTION weft._note_failures(batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[], causes text[], at timestamp with time zone) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._note_failures(batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[], causes text[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._note_late_ends(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[], recorded bigint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], at timestamp with time zone) RETURNS text[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._note_late_ends(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[], recorded bigint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._note_limited() RETURNS trigger
    LANGUAGE plpgsql;
ALTER FUNCTION weft._note_limited() OWNER TO postgres;

CREATE FUNCTION weft._note_machines(of_pool_id integer, flavours text[], regions text[], reasons text[], batch_ids bigint[], job_ids integer[]) RETURNS text[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._note_machines(of_pool_id integer, flavours text[], regions text[], reasons text[], batch_ids bigint[], job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._note_owner() RETURNS trigger
    LANGUAGE plpgsql;
ALTER FUNCTION weft._note_owner() OWNER TO postgres;

CREATE FUNCTION weft._offers(i weft.worker_incarnation) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._offers(i weft.worker_incarnation) OWNER TO weft_system;

CREATE FUNCTION weft._open_batches(of_tenant_id integer, from_batch_id bigint, limit_batches integer) RETURNS bigint[]
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._open_batches(of_tenant_id integer, from_batch_id bigint, limit_batches integer) OWNER TO weft_system;

CREATE FUNCTION weft._open_gates(at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._open_gates(at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._open_neighbours(of_batch_id bigint, of_job_id integer, after_child integer, limit_jobs integer, at timestamp with time zone, OUT n_told integer, OUT last_child integer) RETURNS record
    LANGUAGE plpgsql
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._open_neighbours(of_batch_id bigint, of_job_id integer, after_child integer, limit_jobs integer, at timestamp with time zone, OUT n_told integer, OUT last_child integer) OWNER TO weft_system;

CREATE FUNCTION weft._open_parents(of_batch_id bigint, of_job_id integer, shown_max integer DEFAULT 3) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._open_parents(of_batch_id bigint, of_job_id integer, shown_max integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._open_ranges(batch_ids bigint[], job_ids integer[], update_ids integer[], lane_ids integer[], opens boolean[]) RETURNS boolean[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._open_ranges(batch_ids bigint[], job_ids integer[], update_ids integer[], lane_ids integer[], opens boolean[]) OWNER TO weft_system;

CREATE FUNCTION weft._open_sets(of_gate_set_ids integer[], at timestamp with time zone) RETURNS integer[]
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._open_sets(of_gate_set_ids integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._open_transactions() RETURNS text[]
    LANGUAGE sql;
ALTER FUNCTION weft._open_transactions() OWNER TO weft_system;

CREATE FUNCTION weft._open_update(of_batch_id bigint, of_update_id integer) RETURNS weft.batch_update
    LANGUAGE plpgsql;
ALTER FUNCTION weft._open_update(of_batch_id bigint, of_update_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._open_work(of_tenant_id integer) RETURNS TABLE(batch_id bigint, user_id integer, n_jobs bigint)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._open_work(of_tenant_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._operation_document(operation weft.operation) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._operation_document(operation weft.operation) OWNER TO weft_tenant;

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

CREATE FUNCTION weft._overdue(due weft.attempt_watch[], at timestamp with time zone) RETURNS TABLE(incarnation_id integer, tenant_id integer, batch_id bigint, job_id integer, attempt smallint, why text, cause text, final boolean, age_us bigint)
    LANGUAGE sql;
ALTER FUNCTION weft._overdue(due weft.attempt_watch[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._own_machine(of_batch_id bigint, of_job_id integer) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._own_machine(of_batch_id bigint, of_job_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._park_jobs(of_batch_id bigint, of_job_ids integer[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._park_jobs(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._park_noted(limit_jobs integer) RETURNS bigint
    LANGUAGE plpgsql;
ALTER FUNCTION weft._park_noted(limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft._pass_batches(operation weft.operation, down_to bigint, n_changed integer, n_idle bigint, skipped text) RETURNS jsonb
    LANGUAGE plpgsql;
ALTER FUNCTION weft._pass_batches(operation weft.operation, down_to bigint, n_changed integer, n_idle bigint, skipped text) OWNER TO weft_system;

CREATE FUNCTION weft._pass_gates(of_gate_ids integer[], arrivals boolean, waits boolean DEFAULT false, limit_jobs integer DEFAULT 1000, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._pass_gates(of_gate_ids integer[], arrivals boolean, waits boolean, limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._past_tries(of_batch_id bigint, of_job_id integer, of_attempt smallint, of_reason smallint) RETURNS TABLE(n bigint, since timestamp with time zone)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._past_tries(of_batch_id bigint, of_job_id integer, of_attempt smallint, of_reason smallint) OWNER TO weft_system;

CREATE FUNCTION weft._patched(patch jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._patched(patch jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft._pause_batch(of_batch_id bigint, may_move boolean) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._pause_batch(of_batch_id bigint, may_move boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._pause_for_limit(of_limit weft.spend_limit, limit_rows integer) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft._pause_for_limit(of_limit weft.spend_limit, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft._permission(of_batch_id bigint, of_user_id integer, of_project_id integer) RETURNS integer
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._permission(of_batch_id bigint, of_user_id integer, of_project_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._permission_document(of_batch_id bigint, of_job_id integer, of_user_id integer) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._permission_document(of_batch_id bigint, of_job_id integer, of_user_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._permission_on_jobs(of_batch_id bigint, of_user_id integer, of_project_id integer, of_job_ids integer[]) RETURNS integer
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._permission_on_jobs(of_batch_id bigint, of_user_id integer, of_project_id integer, of_job_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._permission_word(permission integer) RETURNS text
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._permission_word(permission integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._phase_limit(monitor jsonb, of_phase smallint) RETURNS interval
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._phase_limit(monitor jsonb, of_phase smallint) OWNER TO weft_system;

CREATE FUNCTION weft._phase_word(of_phase smallint) RETURNS text
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._phase_word(of_phase smallint) OWNER TO weft_system;

CREATE FUNCTION weft._pick(offer weft.offer, worker weft.worker_incarnation, has_cancel boolean, has_switch boolean, lookahead_jobs integer, limit_jobs integer, hint_job integer) RETURNS weft.picked
    LANGUAGE plpgsql;
ALTER FUNCTION weft._pick(offer weft.offer, worker weft.worker_incarnation, has_cancel boolean, has_switch boolean, lookahead_jobs integer, limit_jobs integer, hint_job integer) OWNER TO weft_system;

CREATE FUNCTION weft._pick_one(offer weft.offer, worker weft.worker_incarnation, has_cancel boolean, has_switch boolean) RETURNS weft.picked
    LANGUAGE plpgsql;
ALTER FUNCTION weft._pick_one(offer weft.offer, worker weft.worker_incarnation, has_cancel boolean, has_switch boolean) OWNER TO weft_system;

CREATE FUNCTION weft._policy_of(of_batch_id bigint, of_job_id integer, of_spec_first integer, of_reason smallint) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._policy_of(of_batch_id bigint, of_job_id integer, of_spec_first integer, of_reason smallint) OWNER TO weft_system;

CREATE FUNCTION weft._pool_demand(of_pool_id integer, limit_jobs integer) RETURNS TABLE(cpu_m integer, memory_mib integer, asks jsonb, n_jobs bigint, runs_s double precision)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._pool_demand(of_pool_id integer, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft._pool_facts(of_pool_id integer, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint, of_user_id integer) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._pool_facts(of_pool_id integer, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint, of_user_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._pool_machines(of_pool_id integer) RETURNS SETOF jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._pool_machines(of_pool_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._pools_serving(of_tenant_id integer) RETURNS TABLE(pool_id integer, name text)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._pools_serving(of_tenant_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._preempted_for(of_batch_id bigint, of_job_id integer, of_attempt smallint) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._preempted_for(of_batch_id bigint, of_job_id integer, of_attempt smallint) OWNER TO weft_tenant;

CREATE FUNCTION weft._preempted_gate(job weft.job, waiting text, opens_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._preempted_gate(job weft.job, waiting text, opens_at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._preemption_hosts(of_pool_id integer) RETURNS SETOF jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._preemption_hosts(of_pool_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._preemption_waiting(of_pool_id integer, queues text[]) RETURNS SETOF jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._preemption_waiting(of_pool_id integer, queues text[]) OWNER TO weft_system;

CREATE FUNCTION weft._price_machines(of_pool_id integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._price_machines(of_pool_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._priced_jobs(of_batch_id bigint, of_job_ids integer[]) RETURNS TABLE(job_id integer, price_ms numeric, cpu_usage bigint, of_cpu numeric, of_memory numeric, of_storage numeric, of_gpu numeric)
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._priced_jobs(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._priced_parts(parts weft.cost_part[]) RETURNS TABLE(owner bigint, resource_id smallint, usage numeric, price_ms numeric)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._priced_parts(parts weft.cost_part[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._priced_usage(owners bigint[], rate_card_ids smallint[], shape_ids integer[], usage_ms_list numeric[]) RETURNS TABLE(owner bigint, resource_id smallint, usage numeric, price_ms numeric)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._priced_usage(owners bigint[], rate_card_ids smallint[], shape_ids integer[], usage_ms_list numeric[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._prices(of_rate_card_id smallint, of_shape_id integer) RETURNS TABLE(price numeric, cpu_m bigint, of_cpu numeric, of_memory numeric, of_storage numeric, of_gpu numeric)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._prices(of_rate_card_id smallint, of_shape_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._prioritize_job(of_batch_id bigint, of_job_id integer, new_priority smallint) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._prioritize_job(of_batch_id bigint, of_job_id integer, new_priority smallint) OWNER TO weft_tenant;

CREATE FUNCTION weft._programs(limit_rows integer) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._programs(limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft._project_forecasts(of_project_ids integer[]) RETURNS TABLE(project_id integer, facts jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._project_forecasts(of_project_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._project_of(of_tenant_id integer, of_user_id integer, of_name text) RETURNS integer
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._project_of(of_tenant_id integer, of_user_id integer, of_name text) OWNER TO weft_tenant;

CREATE FUNCTION weft._project_usage(of_project_ids integer[]) RETURNS TABLE(project_id integer, usage_on date, rate_card_id smallint, shape_id integer, usage_ms bigint)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._project_usage(of_project_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._queue_counts(of_tenant_id integer, of_queues text[]) RETURNS TABLE(queue text, n_waiting bigint, n_running bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._queue_counts(of_tenant_id integer, of_queues text[]) OWNER TO weft_system;

CREATE FUNCTION weft._queue_priority(job weft.job) RETURNS integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._queue_priority(job weft.job) OWNER TO weft_system;

CREATE FUNCTION weft._queue_sets(of_batch_id bigint, limited text[], OUT names text[], OUT sets integer[]) RETURNS record
    LANGUAGE plpgsql;
ALTER FUNCTION weft._queue_sets(of_batch_id bigint, limited text[], OUT names text[], OUT sets integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._quota_document(kind text, name text, of_tenant_id integer, of_user_id integer) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._quota_document(kind text, name text, of_tenant_id integer, of_user_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._quota_owner(of_tenant_id integer, of_user_id integer) RETURNS text
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._quota_owner(of_tenant_id integer, of_user_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._rate_card_at(at timestamp with time zone) RETURNS smallint
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._rate_card_at(at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._ready_samples(of_batch_id bigint, of_group_id integer, samples_max integer DEFAULT 3) RETURNS SETOF integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._ready_samples(of_batch_id bigint, of_group_id integer, samples_max integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._reaper_due(grace_s double precision) RETURNS interval
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._reaper_due(grace_s double precision) OWNER TO weft_system;

CREATE FUNCTION weft._recent_sums(of_project_ids integer[], since date, until date) RETURNS TABLE(project_id integer, user_id integer, batch_id bigint, usage_on date, rate_card_id smallint, cpu numeric, memory numeric, storage numeric, gpu numeric)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._recent_sums(of_project_ids integer[], since date, until date) OWNER TO weft_tenant;

CREATE FUNCTION weft._recent_usage() RETURNS TABLE(project_id integer, user_id integer, batch_id bigint, usage_on date, rate_card_id smallint, shape_id integer, usage_ms bigint)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._recent_usage() OWNER TO weft_tenant;

CREATE FUNCTION weft._record_callbacks(batch_ids bigint[], group_ids integer[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._record_callbacks(batch_ids bigint[], group_ids integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._record_change(of_batch_id bigint, of_group_id integer, of_kind text, actor text, message text, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._record_change(of_batch_id bigint, of_group_id integer, of_kind text, actor text, message text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._record_claim(picked weft.picked, offer weft.offer, incarnation_id integer, pool_id integer, rate_card_id smallint, call bigint, with_chunks boolean, at timestamp with time zone) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, spec_first integer, runnable_id bigint, chunk bytea)
    LANGUAGE plpgsql;
ALTER FUNCTION weft._record_claim(picked weft.picked, offer weft.offer, incarnation_id integer, pool_id integer, rate_card_id smallint, call bigint, with_chunks boolean, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._record_hold(of_batch_id bigint, of_job_ids integer[], of_kind text, actor text, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._record_hold(of_batch_id bigint, of_job_ids integer[], of_kind text, actor text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._record_job_share(of_batch_id bigint, of_job_id integer, of_kind text, actor text, message text, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._record_job_share(of_batch_id bigint, of_job_id integer, of_kind text, actor text, message text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._record_limit(of_batch_ids bigint[], of_group_ids integer[], of_limit weft.spend_limit, of_kind text, at timestamp with time zone) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._record_limit(of_batch_ids bigint[], of_group_ids integer[], of_limit weft.spend_limit, of_kind text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._record_pool_changes(of_pool_id integer, kinds text[], machines text[], reasons text[]) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._record_pool_changes(of_pool_id integer, kinds text[], machines text[], reasons text[]) OWNER TO weft_system;

CREATE FUNCTION weft._record_retry(of_batch_id bigint, of_job_ids integer[], old_states smallint[], of_pool_id integer, actor text, at timestamp with time zone) RETURNS integer[]
    LANGUAGE sql;
ALTER FUNCTION weft._record_retry(of_batch_id bigint, of_job_ids integer[], old_states smallint[], of_pool_id integer, actor text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._record_worker_change(of_worker_id integer, state text, actor text, reason text, at timestamp with time zone) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._record_worker_change(of_worker_id integer, state text, actor text, reason text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._recount_parents(of_batch_id bigint, of_job_ids integer[], may_open integer[]) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._recount_parents(of_batch_id bigint, of_job_ids integer[], may_open integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._recount_shares() RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._recount_shares() OWNER TO weft_system;

CREATE FUNCTION weft._recount_usage(since date) RETURNS void
    LANGUAGE sql
    SET enable_seqscan TO 'off';
ALTER FUNCTION weft._recount_usage(since date) OWNER TO weft_system;

CREATE FUNCTION weft._recount_users() RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._recount_users() OWNER TO weft_system;

CREATE FUNCTION weft._recovery_due() RETURNS interval
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._recovery_due() OWNER TO weft_system;

CREATE FUNCTION weft._refuse_return(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._refuse_return(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._refuse_transition() RETURNS trigger
    LANGUAGE plpgsql;
ALTER FUNCTION weft._refuse_transition() OWNER TO postgres;

CREATE FUNCTION weft._release_jobs(batch_ids bigint[], job_ids integer[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._release_jobs(batch_ids bigint[], job_ids integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._release_machines() RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._release_machines() OWNER TO weft_system;

CREATE FUNCTION weft._release_stopped(limit_jobs integer, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._release_stopped(limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._remove_condition_batches(of_batch_id bigint, limit_rows integer) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft._remove_condition_batches(of_batch_id bigint, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft._remove_rows(operation weft.operation, limit_rows integer, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._remove_rows(operation weft.operation, limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._rename_group(of_batch_id bigint, of_group_id integer, new_name text, groups_max integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._rename_group(of_batch_id bigint, of_group_id integer, new_name text, groups_max integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._report_by_attribute(of_tenant_id integer, of_project_ids integer[], attribute text, since date, until date, rows_max integer) RETURNS TABLE(parts weft.cost_part[], names text[])
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._report_by_attribute(of_tenant_id integer, of_project_ids integer[], attribute text, since date, until date, rows_max integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._report_owners(of_tenant_id integer, of_project_ids integer[], by text, since date, until date, after bigint, scan_max integer) RETURNS TABLE(owner bigint, has_used boolean)
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._report_owners(of_tenant_id integer, of_project_ids integer[], by text, since date, until date, after bigint, scan_max integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._report_page(of_tenant_id integer, of_project_ids integer[], by text, since date, until date, after bigint, limit_rows integer) RETURNS TABLE(parts weft.cost_part[], next_owner bigint)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._report_page(of_tenant_id integer, of_project_ids integer[], by text, since date, until date, after bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._report_projects(of_tenant_id integer, of_user_id integer, of_project text, by text, projects_max integer) RETURNS integer[]
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._report_projects(of_tenant_id integer, of_user_id integer, of_project text, by text, projects_max integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._reserve_update(of_batch weft.batch, user_id integer, new_jobs integer, new_groups integer, trace_id text, idempotency_key text, digest bytea, groups_max integer, at timestamp with time zone) RETURNS weft.batch_update
    LANGUAGE plpgsql;
ALTER FUNCTION weft._reserve_update(of_batch weft.batch, user_id integer, new_jobs integer, new_groups integer, trace_id text, idempotency_key text, digest bytea, groups_max integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._resubmitted_as(new_batch bigint, of_job integer) RETURNS integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._resubmitted_as(new_batch bigint, of_job integer) OWNER TO weft_system;

CREATE FUNCTION weft._resume_for_limit(of_limit weft.spend_limit, limit_rows integer) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft._resume_for_limit(of_limit weft.spend_limit, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft._retry(of_batch_id bigint, of_job_ids integer[], actor text, at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._retry(of_batch_id bigint, of_job_ids integer[], actor text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._retry_hint(of_batch_id bigint, of_group_id integer) RETURNS text
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._retry_hint(of_batch_id bigint, of_group_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._retry_wait(policy jsonb, tries bigint, waited_s double precision, draw double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._retry_wait(policy jsonb, tries bigint, waited_s double precision, draw double precision) OWNER TO weft_system;

CREATE FUNCTION weft._return_excess(of_gate_ids integer[]) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._return_excess(of_gate_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._ring_gates(of_gate_ids integer[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._ring_gates(of_gate_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._rooms(of_gate_set_ids integer[], locked_gate_ids integer[]) RETURNS TABLE(gate_set_id integer, room integer)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._rooms(of_gate_set_ids integer[], locked_gate_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._running_cores(of_tenant_id integer) RETURNS TABLE(user_id integer, cpu_m bigint)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._running_cores(of_tenant_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._running_limits(of_incarnation_id integer, kept weft.reservation) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._running_limits(of_incarnation_id integer, kept weft.reservation) OWNER TO weft_system;

CREATE FUNCTION weft._save_quota(of_tenant_id integer, of_user_id integer, patch jsonb) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._save_quota(of_tenant_id integer, of_user_id integer, patch jsonb) OWNER TO weft_tenant;

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

CREATE FUNCTION weft._schedule_document(of_schedule weft.schedule) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._schedule_document(of_schedule weft.schedule) OWNER TO weft_tenant;

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

CREATE FUNCTION weft._schedule_run_document(of_run weft.schedule_run) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._schedule_run_document(of_run weft.schedule_run) OWNER TO weft_tenant;

CREATE FUNCTION weft._schedules_due() RETURNS interval
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._schedules_due() OWNER TO weft_system;

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

CREATE FUNCTION weft._secret_document(of_secret weft.secret) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._secret_document(of_secret weft.secret) OWNER TO weft_tenant;

CREATE FUNCTION weft._sees_batch(of_batch_id bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._sees_batch(of_batch_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._sees_condition(of_condition_id bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._sees_condition(of_condition_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._sees_limit(of_limit weft.spend_limit, of_user_id integer) RETURNS boolean
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._sees_limit(of_limit weft.spend_limit, of_user_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._sees_operation(operation weft.operation) RETURNS boolean
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._sees_operation(operation weft.operation) OWNER TO weft_tenant;

CREATE FUNCTION weft._sees_schedule(of_schedule weft.schedule) RETURNS boolean
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._sees_schedule(of_schedule weft.schedule) OWNER TO weft_tenant;

CREATE FUNCTION weft._sees_work_on(of_batch_id bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._sees_work_on(of_batch_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._serve_lanes(of_incarnation_id integer) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._serve_lanes(of_incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._serves(offers jsonb, asks jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._serves(offers jsonb, asks jsonb) OWNER TO weft_system;

CREATE FUNCTION weft._serves_tenant(of_pool weft.pool, of_tenant_id integer) RETURNS boolean
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._serves_tenant(of_pool weft.pool, of_tenant_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._set_gates(of_gate_set_ids integer[]) RETURNS integer[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft._set_gates(of_gate_set_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._set_limit(of weft.spend_limit, patch jsonb) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft._set_limit(of weft.spend_limit, patch jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft._set_of_more_cores(of_gate_set_id integer, new_cpu_m bigint) RETURNS integer
    LANGUAGE sql;
ALTER FUNCTION weft._set_of_more_cores(of_gate_set_id integer, new_cpu_m bigint) OWNER TO weft_system;

CREATE FUNCTION weft._set_priority(of_batch_id bigint, of_job_ids integer[], new_priority smallint) RETURNS integer[]
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._set_priority(of_batch_id bigint, of_job_ids integer[], new_priority smallint) OWNER TO weft_system;

CREATE FUNCTION weft._set_project_limit(of_tenant_id integer, of_project_id integer, patch jsonb) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._set_project_limit(of_tenant_id integer, of_project_id integer, patch jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft._sets_at(of_gate_ids integer[]) RETURNS integer[]
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._sets_at(of_gate_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._sets_of_cores(of_tenant_id integer, of_batch_id bigint, cores jsonb, cpu_ms bigint[]) RETURNS integer[]
    LANGUAGE sql;
ALTER FUNCTION weft._sets_of_cores(of_tenant_id integer, of_batch_id bigint, cores jsonb, cpu_ms bigint[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._settle_children(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._settle_children(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._settle_commands(at timestamp with time zone) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._settle_commands(at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._settle_groups(batch_ids bigint[], group_ids integer[], have_grown boolean[], at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._settle_groups(batch_ids bigint[], group_ids integer[], have_grown boolean[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._shape_ids(cpu_ms bigint[], memory_mibs bigint[], storage_mibs bigint[], gpus integer[], countables jsonb[], OUT shape_ids integer[], OUT lane_ids integer[]) RETURNS record
    LANGUAGE plpgsql;
ALTER FUNCTION weft._shape_ids(cpu_ms bigint[], memory_mibs bigint[], storage_mibs bigint[], gpus integer[], countables jsonb[], OUT shape_ids integer[], OUT lane_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._shape_pool(of_shape_id integer, of_pool_id integer) RETURNS integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._shape_pool(of_shape_id integer, of_pool_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._share(of_tenant_id integer, of_batch_id bigint, of_job_id integer, of_user text, permission integer, actor text, at timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql;
ALTER FUNCTION weft._share(of_tenant_id integer, of_batch_id bigint, of_job_id integer, of_user text, permission integer, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._short_gates(of_gate_set_id integer, locked_gate_ids integer[]) RETURNS integer[]
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._short_gates(of_gate_set_id integer, locked_gate_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._show_ranges(of_batch_id bigint) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._show_ranges(of_batch_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft._show_set(tenant_id integer, of_batch_id bigint, set_id integer, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._show_set(tenant_id integer, of_batch_id bigint, set_id integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._shown_conditions(after_id bigint, limit_rows integer) RETURNS SETOF bigint
    LANGUAGE sql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashagg TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._shown_conditions(after_id bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._shown_detail(of_kind text, of_detail jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._shown_detail(of_kind text, of_detail jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft._shown_jobs(of_batch_id bigint, of_job_ids integer[]) RETURNS integer[]
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._shown_jobs(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._shown_operation(of_operation_id bigint) RETURNS weft.operation
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._shown_operation(of_operation_id bigint) OWNER TO weft_tenant;

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

CREATE FUNCTION weft._shown_waiting(of_condition_id bigint, limit_jobs integer) RETURNS SETOF weft.blocked_job
    LANGUAGE sql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._shown_waiting(of_condition_id bigint, limit_jobs integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._skip_touched(offer weft.offer, from_job integer, snapshot pg_snapshot) RETURNS integer
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._skip_touched(offer weft.offer, from_job integer, snapshot pg_snapshot) OWNER TO weft_system;

CREATE FUNCTION weft._spec_bytes(of_update weft.batch_update) RETURNS bigint
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._spec_bytes(of_update weft.batch_update) OWNER TO weft_tenant;

CREATE FUNCTION weft._spending(of_limit_ids integer[], at timestamp with time zone) RETURNS TABLE(limit_id integer, used numeric, used_per_hour numeric)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._spending(of_limit_ids integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._spending_due() RETURNS interval
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._spending_due() OWNER TO weft_system;

CREATE FUNCTION weft._state_after_end(reason smallint, has_started boolean, n_lost integer, counted integer, max_attempts integer, retry_on integer, losses_max integer, final boolean) RETURNS smallint
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._state_after_end(reason smallint, has_started boolean, n_lost integer, counted integer, max_attempts integer, retry_on integer, losses_max integer, final boolean) OWNER TO weft_system;

CREATE FUNCTION weft._stays_by_rule(rules jsonb, steps integer[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._stays_by_rule(rules jsonb, steps integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._step_back(of_gate_ids integer[], of_gate_set_ids integer[], at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._step_back(of_gate_ids integer[], of_gate_set_ids integer[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._stop_attempts(limit_jobs integer, confirm_s double precision, at timestamp with time zone) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, worker text, message text, goes_on boolean)
    LANGUAGE plpgsql;
ALTER FUNCTION weft._stop_attempts(limit_jobs integer, confirm_s double precision, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._stop_batch(operation weft.operation, limit_rows integer, at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._stop_batch(operation weft.operation, limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._stop_for_limit(of_limit_id integer, limit_rows integer) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft._stop_for_limit(of_limit_id integer, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft._stop_reasons(batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[]) RETURNS smallint[]
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._stop_reasons(batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[]) OWNER TO weft_system;

CREATE FUNCTION weft._stored_bytes(of_tenant_id integer) RETURNS TABLE(user_id integer, n_bytes bigint)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._stored_bytes(of_tenant_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._stuck_places(at timestamp with time zone, until timestamp with time zone) RETURNS TABLE(batch_id bigint, job_id integer, gate_id integer, pool_id integer, shape_id integer, stuck_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._stuck_places(at timestamp with time zone, until timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._sum_machines() RETURNS trigger
    LANGUAGE plpgsql;
ALTER FUNCTION weft._sum_machines() OWNER TO postgres;

CREATE FUNCTION weft._sweep_cores(limit_jobs integer) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._sweep_cores(limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft._sweep_parts(limit_jobs integer) RETURNS TABLE(batch_id bigint, group_id integer, running integer[], jobs integer[], next_job integer, n_looked bigint)
    LANGUAGE plpgsql;
ALTER FUNCTION weft._sweep_parts(limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft._switches(of_batch_id bigint) RETURNS TABLE(batch_id bigint, parking boolean)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._switches(of_batch_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft._take_back(of_limit_ids integer[], before timestamp with time zone, limit_jobs integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._take_back(of_limit_ids integer[], before timestamp with time zone, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft._take_one(worker weft.worker_incarnation, of_batch_id bigint, of_job_id integer, OUT offer weft.offer, OUT picked weft.picked) RETURNS record
    LANGUAGE plpgsql;
ALTER FUNCTION weft._take_one(worker weft.worker_incarnation, of_batch_id bigint, of_job_id integer, OUT offer weft.offer, OUT picked weft.picked) OWNER TO weft_system;

CREATE FUNCTION weft._takes_none_back(of_tenant_id integer, of_shape_id integer) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._takes_none_back(of_tenant_id integer, of_shape_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._tell_callers(of_user_id integer) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._tell_callers(of_user_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._tell_limits(of_gate_ids integer[], limits integer[]) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._tell_limits(of_gate_ids integer[], limits integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._tell_room(of_incarnation_id integer) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._tell_room(of_incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._template(plan jsonb, of_flavour text) RETURNS text
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._template(plan jsonb, of_flavour text) OWNER TO weft_system;

CREATE TABLE weft.tenant (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    on_user_removal text DEFAULT 'finish'::text NOT NULL,
    name_key text GENERATED ALWAYS AS (weft._name_key(name)) STORED NOT NULL,
    CONSTRAINT tenant_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT tenant_on_user_removal_check CHECK ((on_user_removal = ANY (ARRAY['finish'::text, 'cancel'::text])))
);
ALTER TABLE weft.tenant OWNER TO postgres;

CREATE FUNCTION weft._tenant_document(of_tenant weft.tenant) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._tenant_document(of_tenant weft.tenant) OWNER TO weft_tenant;

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
    CONSTRAINT token_kind_check CHECK ((kind = ANY (ARRAY['token'::text, 'code'::text, 'session'::text]))),
    CONSTRAINT token_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT token_of_a_browser_expires CHECK (((kind = 'token'::text) OR (expires_at IS NOT NULL))),
    CONSTRAINT token_opened_from_check CHECK ((length(opened_from) <= 256)),
    CONSTRAINT token_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['read'::text, 'write'::text, 'operate'::text, 'manage'::text, 'administer'::text])))
);
ALTER TABLE weft.token OWNER TO postgres;

CREATE FUNCTION weft._token_document(of_token weft.token) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._token_document(of_token weft.token) OWNER TO weft_system;

CREATE FUNCTION weft._token_that_asks(of_user_id integer, by_token bigint) RETURNS weft.token
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._token_that_asks(of_user_id integer, by_token bigint) OWNER TO weft_system;

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

CREATE FUNCTION weft._trail_digest(before bytea, entry weft.trail_entry) RETURNS bytea
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._trail_digest(before bytea, entry weft.trail_entry) OWNER TO weft_system;

CREATE FUNCTION weft._trail_page(of_tenant_id integer, of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_custom_plan';
ALTER FUNCTION weft._trail_page(of_tenant_id integer, of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft._tree_groups(of_update weft.batch_update, group_ids integer[], combo_sets integer[]) RETURNS integer[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._tree_groups(of_update weft.batch_update, group_ids integer[], combo_sets integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._turn_creating(of_batch_id bigint, of_job_id integer, begins boolean, message text, at timestamp with time zone) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft._turn_creating(of_batch_id bigint, of_job_id integer, begins boolean, message text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._turn_ranges(of_batch_id bigint, hidden boolean) RETURNS boolean
    LANGUAGE plpgsql;
ALTER FUNCTION weft._turn_ranges(of_batch_id bigint, hidden boolean) OWNER TO weft_system;

CREATE FUNCTION weft._unpark(of_batch_id bigint, of_job_ids integer[]) RETURNS integer[]
    LANGUAGE sql;
ALTER FUNCTION weft._unpark(of_batch_id bigint, of_job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._unpark_jobs(of_batch_id bigint, after_job integer, limit_jobs integer) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft._unpark_jobs(of_batch_id bigint, after_job integer, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft._unstage(of_batch_id bigint, from_job integer, to_job integer, pool_id integer, at timestamp with time zone) RETURNS integer[]
    LANGUAGE plpgsql;
ALTER FUNCTION weft._unstage(of_batch_id bigint, from_job integer, to_job integer, pool_id integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._used_per_hour(of_measure text, cpu_m numeric, memory_mib numeric, storage_mib numeric, gpu numeric, of_rate_card_id smallint) RETURNS numeric
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._used_per_hour(of_measure text, cpu_m numeric, memory_mib numeric, storage_mib numeric, gpu numeric, of_rate_card_id smallint) OWNER TO weft_system;

CREATE TABLE weft.tenant_user (
    user_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    weight integer DEFAULT 1 NOT NULL,
    role text DEFAULT 'user'::text NOT NULL,
    removed_at timestamp with time zone,
    name_key text GENERATED ALWAYS AS (weft._name_key(name)) STORED NOT NULL,
    CONSTRAINT tenant_user_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256))),
    CONSTRAINT tenant_user_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'user'::text, 'operator'::text, 'tenant-admin'::text, 'admin'::text, 'worker'::text]))),
    CONSTRAINT tenant_user_weight_check CHECK ((weight > 0))
);
ALTER TABLE weft.tenant_user OWNER TO postgres;

CREATE FUNCTION weft._user_document(of_user weft.tenant_user) RETURNS jsonb
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._user_document(of_user weft.tenant_user) OWNER TO weft_tenant;

CREATE FUNCTION weft._user_lanes(of_pool_id integer, of_user_id integer, limit_lanes integer) RETURNS SETOF integer
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._user_lanes(of_pool_id integer, of_user_id integer, limit_lanes integer) OWNER TO weft_system;

CREATE FUNCTION weft._user_quotas(of_tenant_id integer, of_user_id integer) RETURNS TABLE(jobs_max bigint, batches_max bigint, cores_max_m bigint, bytes_max bigint)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._user_quotas(of_tenant_id integer, of_user_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._user_to_change(of_tenant_id integer, of_name text, new_role text, may_give text[]) RETURNS weft.tenant_user
    LANGUAGE plpgsql;
ALTER FUNCTION weft._user_to_change(of_tenant_id integer, of_name text, new_role text, may_give text[]) OWNER TO weft_tenant;

CREATE FUNCTION weft._verdicts_on_ends(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[], recorded bigint[]) RETURNS text[]
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._verdicts_on_ends(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[], recorded bigint[]) OWNER TO weft_system;

CREATE FUNCTION weft._visible_batches(of_user_id integer, before bigint, limit_rows integer, with_hidden boolean) RETURNS SETOF bigint
    LANGUAGE sql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft._visible_batches(of_user_id integer, before bigint, limit_rows integer, with_hidden boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._visible_failed_batches(of_user_id integer, upto bigint, are_acknowledged boolean) RETURNS SETOF bigint
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._visible_failed_batches(of_user_id integer, upto bigint, are_acknowledged boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._visible_limits(of_user_id integer, after_id integer, limit_rows integer) RETURNS SETOF integer
    LANGUAGE sql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashagg TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._visible_limits(of_user_id integer, after_id integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._visible_named_batches(of_user_id integer, of_name text, before bigint, limit_rows integer, with_hidden boolean) RETURNS SETOF bigint
    LANGUAGE sql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft._visible_named_batches(of_user_id integer, of_name text, before bigint, limit_rows integer, with_hidden boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft._visible_operations(of_user_id integer, before bigint, limit_rows integer) RETURNS SETOF weft.operation
    LANGUAGE sql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft._visible_operations(of_user_id integer, before bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._visible_schedules(of_user_id integer, after_id bigint, limit_rows integer) RETURNS SETOF weft.schedule
    LANGUAGE sql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashagg TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft._visible_schedules(of_user_id integer, after_id bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft._waiting_heads(of_gate_set_ids integer[]) RETURNS TABLE(gate_set_id integer, pool_id integer, user_id integer)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._waiting_heads(of_gate_set_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._waiting_jobs(of_gate_set_ids integer[], of_pool_id integer, of_user_id integer, limit_jobs integer, with_paused boolean, at timestamp with time zone, limits integer[] DEFAULT NULL::integer[]) RETURNS TABLE(gate_set_id integer, rank smallint, batch_id bigint, is_ranged boolean, job_id integer, shape_id integer, runnable_id bigint)
    LANGUAGE plpgsql STABLE;
ALTER FUNCTION weft._waiting_jobs(of_gate_set_ids integer[], of_pool_id integer, of_user_id integer, limit_jobs integer, with_paused boolean, at timestamp with time zone, limits integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._waiting_long(of_pool_id integer, lanes integer[], after_s double precision) RETURNS TABLE(batch_id bigint, job_id integer, user_id integer, lane_id integer, cpu_m integer, memory_mib integer, waited_s double precision)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft._waiting_long(of_pool_id integer, lanes integer[], after_s double precision) OWNER TO weft_system;

CREATE FUNCTION weft._waiting_sets() RETURNS SETOF integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._waiting_sets() OWNER TO weft_system;

CREATE FUNCTION weft._waits_at(of_batch_id bigint, of_condition_id bigint) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._waits_at(of_batch_id bigint, of_condition_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft._waits_for_limits(of_batch_id bigint, of_group_id integer, of_job_id integer, always_run boolean, of_limit_ids integer[]) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._waits_for_limits(of_batch_id bigint, of_group_id integer, of_job_id integer, always_run boolean, of_limit_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._wake_workers(pool_ids integer[], lane_ids integer[], at_most integer) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._wake_workers(pool_ids integer[], lane_ids integer[], at_most integer) OWNER TO weft_system;

CREATE FUNCTION weft._walled_tenant(of_tenant_id integer) RETURNS integer
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._walled_tenant(of_tenant_id integer) OWNER TO weft_system;

CREATE FUNCTION weft._watch_attempts(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], claiming boolean, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft._watch_attempts(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], claiming boolean, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft._why_facts(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(job_id integer, facts jsonb)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._why_facts(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft._with_core_gates(of_tenant_id integer, of_batch_id bigint, of_job_ids integer[], cores jsonb) RETURNS TABLE(job_id integer, gate_set_id integer)
    LANGUAGE plpgsql;
ALTER FUNCTION weft._with_core_gates(of_tenant_id integer, of_batch_id bigint, of_job_ids integer[], cores jsonb) OWNER TO weft_system;

CREATE FUNCTION weft._worker_documents(of_tenant_id integer, incarnation_ids integer[]) RETURNS TABLE(worker_id integer, name text, state text, document jsonb)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._worker_documents(of_tenant_id integer, incarnation_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft._worker_loads(of_tenant_id integer, incarnation_ids integer[], claimed_max integer DEFAULT 10000, shown_max integer DEFAULT 10) RETURNS TABLE(incarnation_id integer, n_running bigint, cpu_m bigint, memory_mib bigint, jobs jsonb)
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._worker_loads(of_tenant_id integer, incarnation_ids integer[], claimed_max integer, shown_max integer) OWNER TO weft_system;

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

CREATE FUNCTION weft._worker_state(w weft.worker, i weft.worker_incarnation) RETURNS text
    LANGUAGE sql IMMUTABLE;
ALTER FUNCTION weft._worker_state(w weft.worker, i weft.worker_incarnation) OWNER TO weft_system;

CREATE FUNCTION weft._would_pass(of_gate_set_id integer, of_batch_id bigint, of_job_id integer) RETURNS boolean
    LANGUAGE sql STABLE;
ALTER FUNCTION weft._would_pass(of_gate_set_id integer, of_batch_id bigint, of_job_id integer) OWNER TO weft_system;

CREATE FUNCTION weft.acknowledge_commands(incarnation_id integer, command_ids bigint[], attempts smallint[], outcomes text[], at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.acknowledge_commands(incarnation_id integer, command_ids bigint[], attempts smallint[], outcomes text[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.acknowledge_failures(tenant_id integer, batch_id bigint, of_cause_id bigint, of_job_ids integer[], note text, actor text, until timestamp with time zone, limit_jobs integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.acknowledge_failures(tenant_id integer, batch_id bigint, of_cause_id bigint, of_job_ids integer[], note text, actor text, until timestamp with time zone, limit_jobs integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.act_on_batch(tenant_id integer, epoch bigint, of_operation_id bigint, of_batch_id bigint, of_role text, n_idle bigint, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.act_on_batch(tenant_id integer, epoch bigint, of_operation_id bigint, of_batch_id bigint, of_role text, n_idle bigint, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.add_groups(tenant_id integer, batch_id bigint, update_id integer, group_ids integer[], parent_ids integer[], names text[], attributes jsonb[], cancel_afters integer[], callbacks text[], depth_max integer, are_sets boolean[] DEFAULT '{}'::boolean[], at timestamp with time zone DEFAULT clock_timestamp(), idempotency_key text DEFAULT NULL::text, digest bytea DEFAULT NULL::bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.add_groups(tenant_id integer, batch_id bigint, update_id integer, group_ids integer[], parent_ids integer[], names text[], attributes jsonb[], cancel_afters integer[], callbacks text[], depth_max integer, are_sets boolean[], at timestamp with time zone, idempotency_key text, digest bytea) OWNER TO weft_tenant;

CREATE FUNCTION weft.add_jobs(tenant_id integer, batch_id bigint, update_id integer, first_job integer, n_jobs integer, jobs weft.job_columns, idempotency_key text DEFAULT NULL::text, digest bytea DEFAULT NULL::bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.add_jobs(tenant_id integer, batch_id bigint, update_id integer, first_job integer, n_jobs integer, jobs weft.job_columns, idempotency_key text, digest bytea) OWNER TO weft_tenant;

CREATE FUNCTION weft.add_machines(epoch bigint, of_pool_id integer, flavours text[], regions text[], reasons text[]) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.add_machines(epoch bigint, of_pool_id integer, flavours text[], regions text[], reasons text[]) OWNER TO weft_system;

CREATE FUNCTION weft.add_members(tenant_id integer, batch_id bigint, group_id integer, job_ids integer[], sets_max integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(n_added integer, busy integer[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.add_members(tenant_id integer, batch_id bigint, group_id integer, job_ids integer[], sets_max integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.add_own_machines(epoch bigint, of_pool_id integer, flavours text[], regions text[], reasons text[], batch_ids bigint[], job_ids integer[]) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.add_own_machines(epoch bigint, of_pool_id integer, flavours text[], regions text[], reasons text[], batch_ids bigint[], job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft.add_payload_part(tenant_id integer, batch_id bigint, digest bytea, part integer, n_bytes bigint, body bytea) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.add_payload_part(tenant_id integer, batch_id bigint, digest bytea, part integer, n_bytes bigint, body bytea) OWNER TO weft_tenant;

CREATE FUNCTION weft.add_rates(prices jsonb, new_valid_from timestamp with time zone, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS smallint
    LANGUAGE plpgsql;
ALTER FUNCTION weft.add_rates(prices jsonb, new_valid_from timestamp with time zone, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.add_reservations(epoch bigint, incarnation_ids integer[], batch_ids bigint[], job_ids integer[], fill_seconds double precision[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.add_reservations(epoch bigint, incarnation_ids integer[], batch_ids bigint[], job_ids integer[], fill_seconds double precision[]) OWNER TO weft_system;

CREATE FUNCTION weft.add_resubmitted(epoch bigint, of_operation_id bigint, after_job bigint, upto bigint, job_ids integer[], jobs weft.job_columns, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.add_resubmitted(epoch bigint, of_operation_id bigint, after_job bigint, upto bigint, job_ids integer[], jobs weft.job_columns, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.add_schedule(tenant_id integer, user_id integer, new jsonb, schedules_max integer, idempotency_key text, digest bytea, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(schedule_id bigint, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.add_schedule(tenant_id integer, user_id integer, new jsonb, schedules_max integer, idempotency_key text, digest bytea, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.add_user(tenant_id integer, by_user_id integer, by_role text, of_name text, of_role text, token_hash bytea, idempotency_key text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.add_user(tenant_id integer, by_user_id integer, by_role text, of_name text, of_role text, token_hash bytea, idempotency_key text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.admit_at_limits(epoch bigint, limit_ids integer[], rooms numeric[], limit_jobs integer, patience interval DEFAULT '00:00:03'::interval, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(limit_id integer, n_admitted integer, is_short boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.admit_at_limits(epoch bigint, limit_ids integer[], rooms numeric[], limit_jobs integer, patience interval, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.admit_user(of_tenant text, of_name text, of_role text, may_create boolean) RETURNS TABLE(tenant_id integer, user_id integer, user_name text, role text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.admit_user(of_tenant text, of_name text, of_role text, may_create boolean) OWNER TO weft_system;

CREATE FUNCTION weft.apply_limits(epoch bigint, limit_jobs integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.apply_limits(epoch bigint, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft.ask_block(incarnation_id integer, batch_id bigint, job_id integer, attempt integer, kind text, tester text, parameters jsonb) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.ask_block(incarnation_id integer, batch_id bigint, job_id integer, attempt integer, kind text, tester text, parameters jsonb) OWNER TO weft_system;

CREATE FUNCTION weft.authenticate(token_hash bytea, of_kind text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(tenant_id integer, user_id integer, user_name text, role text, token_id bigint, scopes text[], left_s double precision)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.authenticate(token_hash bytea, of_kind text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.beat_driver(epoch bigint, grace_s double precision) RETURNS TABLE(idle boolean, loops text[], due_in interval[])
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off';
ALTER FUNCTION weft.beat_driver(epoch bigint, grace_s double precision) OWNER TO weft_system;

CREATE FUNCTION weft.begin_batch_action(tenant_id integer, user_id integer, arguments jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.begin_batch_action(tenant_id integer, user_id integer, arguments jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.begin_ordered_query(tenant_id integer, timeout_ms integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.begin_ordered_query(tenant_id integer, timeout_ms integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.begin_query(tenant_id integer, batch_id bigint, of_group integer, of_path text, timeout_ms integer) RETURNS TABLE(last_job integer, group_id integer, n_jobs bigint, numbers integer[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.begin_query(tenant_id integer, batch_id bigint, of_group integer, of_path text, timeout_ms integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.begin_schedule_runs(epoch bigint, schedule_ids bigint[], expected timestamp with time zone[], next_ats timestamp with time zone[], missed_counts bigint[], run_schedule_ids bigint[], run_due_ats timestamp with time zone[], at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.begin_schedule_runs(epoch bigint, schedule_ids bigint[], expected timestamp with time zone[], next_ats timestamp with time zone[], missed_counts bigint[], run_schedule_ids bigint[], run_due_ats timestamp with time zone[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.begin_term() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.begin_term() OWNER TO weft_system;

CREATE FUNCTION weft.begin_visit(by_user_id integer, of_name text, request jsonb) RETURNS TABLE(tenant_id integer, tenant text, user_name text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.begin_visit(by_user_id integer, of_name text, request jsonb) OWNER TO weft_system;

CREATE FUNCTION weft.billing_report(tenant_id integer, of_user_id integer, of_project text, by text, attribute text, since date, until date, rows_max integer, projects_max integer, after bigint, limit_rows integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.billing_report(tenant_id integer, of_user_id integer, of_project text, by text, attribute text, since date, until date, rows_max integer, projects_max integer, after bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.black_holes(epoch bigint) RETURNS TABLE(worker_id integer, worker text, n_tries integer, outcome text, due_in_s double precision)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.black_holes(epoch bigint) OWNER TO weft_system;

CREATE FUNCTION weft.cancel_group(tenant_id integer, batch_id bigint, group_id integer, actor text, force boolean, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.cancel_group(tenant_id integer, batch_id bigint, group_id integer, actor text, force boolean, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.cancel_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(job_id integer, outcome text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.cancel_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.cancel_operation(tenant_id integer, of_operation_id bigint, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.cancel_operation(tenant_id integer, of_operation_id bigint, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.change_project(tenant_id integer, of_name text, patch jsonb, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.change_project(tenant_id integer, of_name text, patch jsonb, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.change_schedule(tenant_id integer, of_schedule_id bigint, patch jsonb, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.change_schedule(tenant_id integer, of_schedule_id bigint, patch jsonb, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.check_login(login text, OUT user_name text, OUT may_act boolean) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.check_login(login text, OUT user_name text, OUT may_act boolean) OWNER TO weft_system;

CREATE FUNCTION weft.claim_jobs(incarnation_id integer, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, hint_runnable bigint[] DEFAULT '{}'::bigint[], hint_job integer[] DEFAULT '{}'::integer[], call bigint DEFAULT NULL::bigint, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, spec_first integer, runnable_id bigint, chunk bytea)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.claim_jobs(incarnation_id integer, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, hint_runnable bigint[], hint_job integer[], call bigint, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.claim_reserved(incarnation_id integer, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, call bigint DEFAULT NULL::bigint, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, spec_first integer, runnable_id bigint, chunk bytea, fills boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.claim_reserved(incarnation_id integer, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, call bigint, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.commit_update(tenant_id integer, batch_id bigint, of_update_id integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(update_id integer, first_job integer, first_group integer, n_jobs integer, n_groups integer, committed boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan';
ALTER FUNCTION weft.commit_update(tenant_id integer, batch_id bigint, of_update_id integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.complete_and_claim(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[], reasons smallint[], exit_codes integer[], signals smallint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], messages text[], budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, hint_runnable bigint[] DEFAULT '{}'::bigint[], hint_job integer[] DEFAULT '{}'::integer[], call bigint DEFAULT NULL::bigint, causes text[] DEFAULT NULL::text[]) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, spec_first integer, runnable_id bigint, chunk bytea, verdicts text[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.complete_and_claim(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[], reasons smallint[], exit_codes integer[], signals smallint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], messages text[], budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, hint_runnable bigint[], hint_job integer[], call bigint, causes text[]) OWNER TO weft_system;

CREATE FUNCTION weft.complete_attempts(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[], reasons smallint[], exit_codes integer[], signals smallint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], messages text[], causes text[] DEFAULT NULL::text[], at timestamp with time zone DEFAULT clock_timestamp()) RETURNS text[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.complete_attempts(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[], reasons smallint[], exit_codes integer[], signals smallint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], messages text[], causes text[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.conditions_due(epoch bigint, busy bigint[]) RETURNS interval
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.conditions_due(epoch bigint, busy bigint[]) OWNER TO weft_system;

CREATE FUNCTION weft.configure_term(epoch bigint, settings jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.configure_term(epoch bigint, settings jsonb) OWNER TO weft_system;

CREATE FUNCTION weft.copy_batch(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.copy_batch(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.cordon_worker(of_name text, of_pool text, actor text, reason text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.cordon_worker(of_name text, of_pool text, actor text, reason text) OWNER TO weft_system;

CREATE FUNCTION weft.correct_rates(version integer, prices jsonb, new_valid_from timestamp with time zone, actor text, reason text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(tenant text, project text, cost_before numeric, cost_after numeric)
    LANGUAGE plpgsql;
ALTER FUNCTION weft.correct_rates(version integer, prices jsonb, new_valid_from timestamp with time zone, actor text, reason text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.count_machines(epoch bigint, machines text[], shares double precision[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.count_machines(epoch bigint, machines text[], shares double precision[]) OWNER TO weft_system;

CREATE FUNCTION weft.count_parent_ends(epoch bigint, limit_jobs integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.count_parent_ends(epoch bigint, limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.count_reasons(tenant_id integer, batch_id bigint, of_group_id integer, after integer, limit_attempts integer) RETURNS TABLE(items jsonb, next_after integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.count_reasons(tenant_id integer, batch_id bigint, of_group_id integer, after integer, limit_attempts integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.create_batch(tenant_id integer, user_id integer, batch jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(batch_id bigint, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.create_batch(tenant_id integer, user_id integer, batch jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.create_login_code(tenant_id integer, user_id integer, by_token bigint, of_hash bytea, of_scopes text[], valid_s double precision, session_s double precision, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS timestamp with time zone
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.create_login_code(tenant_id integer, user_id integer, by_token bigint, of_hash bytea, of_scopes text[], valid_s double precision, session_s double precision, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.create_project(tenant_id integer, user_id integer, of_name text, cost_max numeric, idempotency_key text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.create_project(tenant_id integer, user_id integer, of_name text, cost_max numeric, idempotency_key text) OWNER TO weft_tenant;

CREATE FUNCTION weft.create_query_set(tenant_id integer, user_id integer, batch_id bigint, name text, attributes jsonb, cancel_after integer, callback text, query text, within_group integer, groups_max integer, sets_max integer, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.create_query_set(tenant_id integer, user_id integer, batch_id bigint, name text, attributes jsonb, cancel_after integer, callback text, query text, within_group integer, groups_max integer, sets_max integer, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.create_set(tenant_id integer, batch_id bigint, name text, attributes jsonb, cancel_after integer, callback text, is_hidden boolean, groups_max integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(group_id integer, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.create_set(tenant_id integer, batch_id bigint, name text, attributes jsonb, cancel_after integer, callback text, is_hidden boolean, groups_max integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.create_tenant(by_user_id integer, of_name text, admin_name text, token_hash bytea, idempotency_key text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.create_tenant(by_user_id integer, of_name text, admin_name text, token_hash bytea, idempotency_key text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.create_token(tenant_id integer, user_id integer, by_token bigint, of_hash bytea, of_name text, of_scopes text[], valid_s double precision, tokens_max integer, idempotency_key text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.create_token(tenant_id integer, user_id integer, by_token bigint, of_hash bytea, of_name text, of_scopes text[], valid_s double precision, tokens_max integer, idempotency_key text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.create_update(tenant_id integer, user_id integer, batch_id bigint, new_jobs integer, new_groups integer, trace_id text, idempotency_key text, digest bytea, groups_max integer DEFAULT 2000000000, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(update_id integer, first_job integer, first_group integer, n_jobs integer, n_groups integer, committed boolean, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.create_update(tenant_id integer, user_id integer, batch_id bigint, new_jobs integer, new_groups integer, trace_id text, idempotency_key text, digest bytea, groups_max integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.database_id() RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.database_id() OWNER TO weft_system;

CREATE FUNCTION weft.deadlines_due(epoch bigint) RETURNS interval
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.deadlines_due(epoch bigint) OWNER TO weft_system;

CREATE FUNCTION weft.delete_batch(tenant_id integer, user_id integer, batch_id bigint, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.delete_batch(tenant_id integer, user_id integer, batch_id bigint, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.delete_project(tenant_id integer, of_name text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.delete_project(tenant_id integer, of_name text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.delete_schedule(tenant_id integer, of_schedule_id bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.delete_schedule(tenant_id integer, of_schedule_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft.drain_queue(tenant_id integer, name text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.drain_queue(tenant_id integer, name text) OWNER TO weft_tenant;

CREATE FUNCTION weft.drain_worker(of_name text, of_pool text, actor text, reason text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.drain_worker(of_name text, of_pool text, actor text, reason text) OWNER TO weft_system;

CREATE FUNCTION weft.due_callbacks(epoch bigint, busy bigint[], limit_all integer, limit_tenant integer, limit_host integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(delivery_id bigint, name uuid, tenant_id integer, batch_id bigint, group_id integer, url text, body text, n_attempts integer, age interval, sent_at bigint, door text, key text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.due_callbacks(epoch bigint, busy bigint[], limit_all integer, limit_tenant integer, limit_host integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.due_conditions(epoch bigint, busy bigint[], limit_rows integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(condition_id bigint, tester text, parameters jsonb, late_s double precision, is_over boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.due_conditions(epoch bigint, busy bigint[], limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.due_schedules(epoch bigint, limit_rows integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(schedule_id bigint, cron text, time_zone text, missed text, next_at timestamp with time zone, now timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.due_schedules(epoch bigint, limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.edit_group(tenant_id integer, batch_id bigint, group_id integer, patch jsonb, attributes_max integer, groups_max integer, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.edit_group(tenant_id integer, batch_id bigint, group_id integer, patch jsonb, attributes_max integer, groups_max integer, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.edit_job(tenant_id integer, batch_id bigint, job_id integer, patch jsonb, attributes_max integer, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.edit_job(tenant_id integer, batch_id bigint, job_id integer, patch jsonb, attributes_max integer, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.end_schedule_run(tenant_id integer, of_schedule_id bigint, due_at timestamp with time zone, by_hand boolean, batch_id bigint, error jsonb, idempotency_key text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.end_schedule_run(tenant_id integer, of_schedule_id bigint, due_at timestamp with time zone, by_hand boolean, batch_id bigint, error jsonb, idempotency_key text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.end_sessions(tenant_id integer, user_id integer, of_session bigint) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.end_sessions(tenant_id integer, user_id integer, of_session bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft.ensure_local_user(tenant text, user_name text, token_hash bytea) RETURNS void
    LANGUAGE plpgsql;
ALTER FUNCTION weft.ensure_local_user(tenant text, user_name text, token_hash bytea) OWNER TO weft_system;

CREATE FUNCTION weft.events_now() RETURNS TABLE(xid bigint, event_id bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.events_now() OWNER TO weft_tenant;

CREATE FUNCTION weft.extend_job(tenant_id integer, batch_id bigint, job_id integer, by_ms bigint, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.extend_job(tenant_id integer, batch_id bigint, job_id integer, by_ms bigint, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.fail_condition(tenant_id integer, of_condition_id bigint, actor text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.fail_condition(tenant_id integer, of_condition_id bigint, actor text) OWNER TO weft_tenant;

CREATE FUNCTION weft.fail_conditions(epoch bigint, limit_jobs integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.fail_conditions(epoch bigint, limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.fail_operation(epoch bigint, of_operation_id bigint, error jsonb, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.fail_operation(epoch bigint, of_operation_id bigint, error jsonb, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.fill_set(epoch bigint, of_operation_id bigint, job_ids integer[], looked_upto bigint, sets_max integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.fill_set(epoch bigint, of_operation_id bigint, job_ids integer[], looked_upto bigint, sets_max integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.find_tenant(of_name text) RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.find_tenant(of_name text) OWNER TO weft_system;

CREATE FUNCTION weft.finish_drain(incarnation_id integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.finish_drain(incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft.fold_deltas(epoch bigint, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(n_deltas bigint, loops text[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.fold_deltas(epoch bigint, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.fold_failures(epoch bigint, limit_jobs integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.fold_failures(epoch bigint, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft.gates_due(epoch bigint) RETURNS interval
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.gates_due(epoch bigint) OWNER TO weft_system;

CREATE FUNCTION weft.get_batch(tenant_id integer, batch_id bigint) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.get_batch(tenant_id integer, batch_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_batches(tenant_id integer, batch_ids bigint[]) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.get_batches(tenant_id integer, batch_ids bigint[]) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_bunch(tenant_id integer, of_batch_id bigint, of_update_id integer, first_position integer, n_jobs integer) RETURNS TABLE(job_id integer, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, group_id integer, set_ids integer[], priority smallint, always_run boolean, max_attempts smallint, retry_on integer, name text, attributes jsonb, parents integer[], spec_first integer, rare_fields jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_bunch(tenant_id integer, of_batch_id bigint, of_update_id integer, first_position integer, n_jobs integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_chunks(batch_ids bigint[], first_jobs integer[]) RETURNS TABLE(batch_id bigint, first_job integer, body bytea)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_chunks(batch_ids bigint[], first_jobs integer[]) OWNER TO weft_system;

CREATE FUNCTION weft.get_condition(tenant_id integer, of_condition_id bigint, limit_jobs integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.get_condition(tenant_id integer, of_condition_id bigint, limit_jobs integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_group(tenant_id integer, batch_id bigint, group_id integer, path text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.get_group(tenant_id integer, batch_id bigint, group_id integer, path text) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_job(tenant_id integer, batch_id bigint, job_id integer, limit_parents integer, limit_counted integer) RETURNS TABLE(document jsonb, spec_index integer, spec_body bytea)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan';
ALTER FUNCTION weft.get_job(tenant_id integer, batch_id bigint, job_id integer, limit_parents integer, limit_counted integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_jobs(tenant_id integer, batch_id bigint, job_ids integer[]) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'on'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_hashagg TO 'on'
    SET enable_sort TO 'on';
ALTER FUNCTION weft.get_jobs(tenant_id integer, batch_id bigint, job_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_operation(tenant_id integer, of_operation_id bigint) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_operation(tenant_id integer, of_operation_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_payload_part(of_batch_id bigint, of_digest bytea, of_part integer) RETURNS TABLE(n_bytes bigint, body bytea)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_payload_part(of_batch_id bigint, of_digest bytea, of_part integer) OWNER TO weft_system;

CREATE FUNCTION weft.get_schedule(tenant_id integer, of_schedule_id bigint) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_schedule(tenant_id integer, of_schedule_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_secrets(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], names text[]) RETURNS TABLE(is_owner boolean, tenant_id integer, user_id integer, body bytea)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_secrets(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], names text[]) OWNER TO weft_system;

CREATE FUNCTION weft.get_specs(tenant_id integer, of_batch_id bigint, first_jobs integer[]) RETURNS TABLE(first_job integer, body bytea)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_specs(tenant_id integer, of_batch_id bigint, first_jobs integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_system(limit_rows integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_system(limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.get_tenant(tenant_id integer, of_name text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_tenant(tenant_id integer, of_name text) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_update(tenant_id integer, batch_id bigint, of_update_id integer) RETURNS TABLE(update_id integer, first_job integer, first_group integer, n_jobs integer, n_groups integer, committed boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_update(tenant_id integer, batch_id bigint, of_update_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.get_worker(tenant_id integer, pools_of_tenant_id integer, of_name text, of_pool text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.get_worker(tenant_id integer, pools_of_tenant_id integer, of_name text, of_pool text) OWNER TO weft_system;

CREATE FUNCTION weft.granted_batches() RETURNS SETOF bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.granted_batches() OWNER TO weft_tenant;

CREATE FUNCTION weft.group_history(tenant_id integer, batch_id bigint, group_id integer, before bigint, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.group_history(tenant_id integer, batch_id bigint, group_id integer, before bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.heartbeat(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], draining boolean, claiming boolean DEFAULT false, heard bigint[] DEFAULT '{}'::bigint[]) RETURNS TABLE(alive boolean, has_work boolean, stop_batch_ids bigint[], stop_job_ids integer[], stop_attempts smallint[], drains boolean, kept boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off';
ALTER FUNCTION weft.heartbeat(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], draining boolean, claiming boolean, heard bigint[]) OWNER TO weft_system;

CREATE FUNCTION weft.hide_batch(tenant_id integer, batch_id bigint, hidden boolean, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.hide_batch(tenant_id integer, batch_id bigint, hidden boolean, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.hold_group(tenant_id integer, batch_id bigint, group_id integer, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.hold_group(tenant_id integer, batch_id bigint, group_id integer, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.hold_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(job_id integer, outcome text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.hold_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.home_tenant() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.home_tenant() OWNER TO weft_system;

CREATE FUNCTION weft.idle_driver(epoch bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.idle_driver(epoch bigint) OWNER TO weft_system;

CREATE FUNCTION weft.job_history(tenant_id integer, batch_id bigint, job_id integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.job_history(tenant_id integer, batch_id bigint, job_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.judge_limit(epoch bigint, limit_id integer, version integer, stage text, near boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.judge_limit(epoch bigint, limit_id integer, version integer, stage text, near boolean) OWNER TO weft_system;

CREATE FUNCTION weft.last_group_of_update(tenant_id integer, of_batch_id bigint, of_update_id integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.last_group_of_update(tenant_id integer, of_batch_id bigint, of_update_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.leave(incarnation_id integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.leave(incarnation_id integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.licence_limits() RETURNS TABLE(name text, n integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.licence_limits() OWNER TO weft_system;

CREATE FUNCTION weft.limit_rounds(epoch bigint, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(limit_id integer, version integer, is_new boolean, kind text, name text, tenant text, measure text, amount_max numeric, amount_soft_max numeric, on_limit text, stage text, used numeric, used_per_hour numeric, near boolean, could_use_per_hour numeric, admitted_per_hour numeric)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.limit_rounds(epoch bigint, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.list_allowed(tenant_id integer, batch_ids bigint[]) RETURNS SETOF bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_allowed(tenant_id integer, batch_ids bigint[]) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_attempts(tenant_id integer, batch_id bigint, job_id integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_attempts(tenant_id integer, batch_id bigint, job_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_batch_keys(tenant_id integer, batch_ids bigint[]) RETURNS TABLE(batch_id bigint, idempotency_key text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_batch_keys(tenant_id integer, batch_ids bigint[]) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_batches(tenant_id integer, before bigint, limit_rows integer, of_name text, with_hidden boolean) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_batches(tenant_id integer, before bigint, limit_rows integer, of_name text, with_hidden boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_callbacks(tenant_id integer, batch_id bigint, after bigint, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_callbacks(tenant_id integer, batch_id bigint, after bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_causes(tenant_id integer, batch_id bigint, show_all boolean, limit_rows integer) RETURNS TABLE(n_jobs bigint, n_acknowledged bigint, n_causes bigint, items jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_causes(tenant_id integer, batch_id bigint, show_all boolean, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_child_groups(tenant_id integer, batch_id bigint, of_group_id integer, after integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_child_groups(tenant_id integer, batch_id bigint, of_group_id integer, after integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_children(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_children(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_commands(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], at timestamp with time zone DEFAULT clock_timestamp(), OUT asks_again boolean, OUT command_ids bigint[], OUT of_batch_ids bigint[], OUT of_job_ids integer[], OUT of_attempts smallint[], OUT signals smallint[], OUT extensions_ms bigint[], OUT messages text[]) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_commands(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], at timestamp with time zone, OUT asks_again boolean, OUT command_ids bigint[], OUT of_batch_ids bigint[], OUT of_job_ids integer[], OUT of_attempts smallint[], OUT signals smallint[], OUT extensions_ms bigint[], OUT messages text[]) OWNER TO weft_system;

CREATE FUNCTION weft.list_conditions(tenant_id integer, after_id bigint, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft.list_conditions(tenant_id integer, after_id bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_dead_letters(tenant_id integer, of_batch_id bigint, of_cause_id bigint, of_reason smallint, of_acknowledged boolean, after_batch bigint, after_cause bigint, after_job integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashagg TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_hashjoin TO 'off';
ALTER FUNCTION weft.list_dead_letters(tenant_id integer, of_batch_id bigint, of_cause_id bigint, of_reason smallint, of_acknowledged boolean, after_batch bigint, after_cause bigint, after_job integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_edges(tenant_id integer, batch_id bigint, job_ids integer[], limit_rows integer) RETURNS TABLE(parent_id integer, child_id integer, cut boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_edges(tenant_id integer, batch_id bigint, job_ids integer[], limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_ended_jobs(batch_ids bigint[], job_ids integer[]) RETURNS TABLE(batch_id bigint, job_id integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_ended_jobs(batch_ids bigint[], job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft.list_events(tenant_id integer, after_xid bigint, after_event bigint, of_batch_id bigint, limit_rows integer) RETURNS TABLE(xid bigint, event_id bigint, at timestamp with time zone, kind text, batch_id bigint, from_state smallint, to_state smallint, jobs integer[], groups integer[], trace_id text, detail jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_events(tenant_id integer, after_xid bigint, after_event bigint, of_batch_id bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_group_edges(tenant_id integer, batch_id bigint, of_group_id integer, limit_rows integer) RETURNS TABLE(from_id integer, to_id integer, n_edges bigint, sampled boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_group_edges(tenant_id integer, batch_id bigint, of_group_id integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_groups(tenant_id integer, batch_id bigint, after integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_groups(tenant_id integer, batch_id bigint, after integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_job_entries(tenant_id integer, batch_id bigint, after integer, limit_rows integer, of_job_ids integer[]) RETURNS TABLE(job_id integer, group_id integer, attributes jsonb, state smallint, reason smallint, exit_code integer, signal smallint, always_run boolean, ended_ms bigint, duration_ms bigint, cost double precision, cpu_usage bigint, cpu_cost double precision, memory_cost double precision, storage_cost double precision, gpu_cost double precision)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_job_entries(tenant_id integer, batch_id bigint, after integer, limit_rows integer, of_job_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_job_permissions(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_job_permissions(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_job_users(batch_ids bigint[], job_ids integer[]) RETURNS TABLE(batch_id bigint, job_id integer, tenant_id integer, owner_id integer, tenant text, submitter text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_job_users(batch_ids bigint[], job_ids integer[]) OWNER TO weft_system;

CREATE FUNCTION weft.list_jobs(tenant_id integer, batch_id bigint, after integer, limit_rows integer, states smallint[]) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_jobs(tenant_id integer, batch_id bigint, after integer, limit_rows integer, states smallint[]) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_licences() RETURNS SETOF jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_licences() OWNER TO weft_system;

CREATE FUNCTION weft.list_limits(tenant_id integer, of_user_id integer, of_batch_id bigint, after integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft.list_limits(tenant_id integer, of_user_id integer, of_batch_id bigint, after integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_live(incarnation_id integer) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, spec_first integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_live(incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft.list_machines(pools_of_tenant_id integer, of_pool text, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft.list_machines(pools_of_tenant_id integer, of_pool text, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft.list_minutes(tenant_id integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS SETOF jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_minutes(tenant_id integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.list_open_batches(tenant_id integer, of_user_id integer, after bigint, limit_rows integer) RETURNS SETOF bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_open_batches(tenant_id integer, of_user_id integer, after bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_operations(tenant_id integer, before bigint, limit_rows integer, of_batch_id bigint) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft.list_operations(tenant_id integer, before bigint, limit_rows integer, of_batch_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_parent_groups(tenant_id integer, batch_id bigint, group_ids integer[]) RETURNS SETOF integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_parent_groups(tenant_id integer, batch_id bigint, group_ids integer[]) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_parents(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_parents(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_permissions(tenant_id integer, batch_id bigint, after integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_permissions(tenant_id integer, batch_id bigint, after integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_pool_changes(pools_of_tenant_id integer, of_pool text, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft.list_pool_changes(pools_of_tenant_id integer, of_pool text, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft.list_pool_costs(pools_of_tenant_id integer, of_pool text, limit_days integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashagg TO 'off';
ALTER FUNCTION weft.list_pool_costs(pools_of_tenant_id integer, of_pool text, limit_days integer) OWNER TO weft_system;

CREATE FUNCTION weft.list_pools(of_tenant_id integer, of_name text, after_name text, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.list_pools(of_tenant_id integer, of_name text, after_name text, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft.list_project_days(tenant_id integer, of_user_id integer, of_name text, before date, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_project_days(tenant_id integer, of_user_id integer, of_name text, before date, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_projects(tenant_id integer, of_user_id integer, of_name text, of_names text[], after_name text, limit_rows integer, members_max integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_projects(tenant_id integer, of_user_id integer, of_name text, of_names text[], after_name text, limit_rows integer, members_max integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_queues(tenant_id integer, with_counts boolean, below integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_queues(tenant_id integer, with_counts boolean, below integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_quotas(tenant_id integer, of_user_id integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_quotas(tenant_id integer, of_user_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_rates() RETURNS SETOF jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_rates() OWNER TO weft_system;

CREATE FUNCTION weft.list_removed(batch_ids bigint[]) RETURNS SETOF bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_removed(batch_ids bigint[]) OWNER TO weft_system;

CREATE FUNCTION weft.list_resubmitted(epoch bigint, of_operation_id bigint, after_job bigint, limit_rows integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(upto bigint, new_first integer, job_id integer, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, countables jsonb, group_id integer, set_ids integer[], priority smallint, always_run boolean, max_attempts smallint, retry_on integer, name text, attributes jsonb, rare_fields jsonb, array_first integer, array_n integer, array_index integer, array_name text, array_attributes jsonb, array_fields jsonb, spec_first integer, parents integer[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.list_resubmitted(epoch bigint, of_operation_id bigint, after_job bigint, limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.list_saved_queries(tenant_id integer, user_id integer, of_name text) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_saved_queries(tenant_id integer, user_id integer, of_name text) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_schedules(tenant_id integer, after bigint, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft.list_schedules(tenant_id integer, after bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_secrets(tenant_id integer, user_id integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_secrets(tenant_id integer, user_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_sessions(tenant_id integer, user_id integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_sessions(tenant_id integer, user_id integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_sets(tenant_id integer, batch_id bigint, after text, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_sets(tenant_id integer, batch_id bigint, after text, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_shared_jobs(tenant_id integer, of_user_id integer, before_batch bigint, before_job integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_shared_jobs(tenant_id integer, of_user_id integer, before_batch bigint, before_job integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_shares(tenant_id integer, of_pool text, of_user_id integer, after_load double precision, after_user integer, limit_rows integer, own_tenant boolean DEFAULT false) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_shares(tenant_id integer, of_pool text, of_user_id integer, after_load double precision, after_user integer, limit_rows integer, own_tenant boolean) OWNER TO weft_system;

CREATE FUNCTION weft.list_stale_secrets(by_user_id integer, key_id bytea, limit_rows integer) RETURNS TABLE(tenant_id integer, user_id integer, name text, body bytea)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_stale_secrets(by_user_id integer, key_id bytea, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft.list_tenants(after integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_tenants(after integer, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft.list_time_limits(batch_ids bigint[], job_ids integer[], attempts smallint[]) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, limit_ms bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_time_limits(batch_ids bigint[], job_ids integer[], attempts smallint[]) OWNER TO weft_system;

CREATE FUNCTION weft.list_to_stop(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[]) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan';
ALTER FUNCTION weft.list_to_stop(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[]) OWNER TO weft_system;

CREATE FUNCTION weft.list_tokens(tenant_id integer, user_id integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_tokens(tenant_id integer, user_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_trail(tenant_id integer, of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_trail(tenant_id integer, of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_users(tenant_id integer, after integer, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft.list_users(tenant_id integer, after integer, limit_rows integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_waiting(tenant_id integer, after_batch bigint, after_job integer, limit_jobs integer) RETURNS TABLE(batch_id bigint, last_job integer, jobs jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.list_waiting(tenant_id integer, after_batch bigint, after_job integer, limit_jobs integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.list_whole_trail(of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.list_whole_trail(of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft.list_workers(tenant_id integer, pools_of_tenant_id integer, with_deleted boolean, after_name text, after_pool text, limit_rows integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.list_workers(tenant_id integer, pools_of_tenant_id integer, with_deleted boolean, after_name text, after_pool text, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft.live_jobs(of_batch_id bigint, first_job bigint, last_job bigint) RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.live_jobs(of_batch_id bigint, first_job bigint, last_job bigint) OWNER TO weft_system;

CREATE FUNCTION weft.log_places(tenant_id integer, of_batch_id bigint, job_ids integer[], of_attempt smallint) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, ended boolean, segment integer, log_offset bigint, stdout_bytes bigint, stderr_bytes bigint, truncated boolean, state text, reason smallint, exit_code integer, signal smallint, message text, log_place text, host text, log_directory text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.log_places(tenant_id integer, of_batch_id bigint, job_ids integer[], of_attempt smallint) OWNER TO weft_tenant;

CREATE FUNCTION weft.login_owner(of_hash bytea) RETURNS TABLE(tenant_id integer, user_id integer, user_name text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.login_owner(of_hash bytea) OWNER TO weft_system;

CREATE FUNCTION weft.lose_workers(epoch bigint, grace_s double precision, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(worker text, incarnation_id integer, n_attempts bigint, silent_s double precision)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.lose_workers(epoch bigint, grace_s double precision, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.may_see(of_batch_id bigint, of_user_id integer, of_project_id integer) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.may_see(of_batch_id bigint, of_user_id integer, of_project_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.member_projects() RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.member_projects() OWNER TO weft_tenant;

CREATE FUNCTION weft.message_job(tenant_id integer, batch_id bigint, job_id integer, message text, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.message_job(tenant_id integer, batch_id bigint, job_id integer, message text, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.missing_payloads(tenant_id integer, of_batch_id bigint, digests bytea[], part_bytes integer) RETURNS SETOF bytea
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.missing_payloads(tenant_id integer, of_batch_id bigint, digests bytea[], part_bytes integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.missing_tenants(names text[]) RETURNS SETOF text
    LANGUAGE sql STABLE;
ALTER FUNCTION weft.missing_tenants(names text[]) OWNER TO weft_system;

CREATE FUNCTION weft.move_black_hole(epoch bigint, of_worker_id integer, decision text, reason text, retry_s double precision) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.move_black_hole(epoch bigint, of_worker_id integer, decision text, reason text, retry_s double precision) OWNER TO weft_system;

CREATE FUNCTION weft.move_jobs(tenant_id integer, batch_id bigint, job_ids integer[], asked jsonb, actor text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.move_jobs(tenant_id integer, batch_id bigint, job_ids integer[], asked jsonb, actor text) OWNER TO weft_tenant;

CREATE FUNCTION weft.move_machine(epoch bigint, machine text, decision text, reason text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.move_machine(epoch bigint, machine text, decision text, reason text) OWNER TO weft_system;

CREATE FUNCTION weft.next_callback(epoch bigint, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS interval
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off';
ALTER FUNCTION weft.next_callback(epoch bigint, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.next_due(epoch bigint, grace_s double precision) RETURNS interval
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.next_due(epoch bigint, grace_s double precision) OWNER TO weft_system;

CREATE FUNCTION weft.next_schedule_run() RETURNS interval
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off';
ALTER FUNCTION weft.next_schedule_run() OWNER TO weft_system;

CREATE FUNCTION weft.open_issuer_session(tenant_id integer, user_id integer, session_hash bytea, of_login text, of_name text, opened_from text, valid_s double precision, sessions_max integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.open_issuer_session(tenant_id integer, user_id integer, session_hash bytea, of_login text, of_name text, opened_from text, valid_s double precision, sessions_max integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.open_session(code_hash bytea, session_hash bytea, of_name text, opened_from text, valid_s double precision, sessions_max integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(tenant_id integer, user_id integer, user_name text, role text, token_id bigint, scopes text[], left_s double precision)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.open_session(code_hash bytea, session_hash bytea, of_name text, opened_from text, valid_s double precision, sessions_max integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.operation_caller(epoch bigint, of_operation_id bigint) RETURNS TABLE(tenant_id integer, user_id integer, user_name text, role text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.operation_caller(epoch bigint, of_operation_id bigint) OWNER TO weft_system;

CREATE FUNCTION weft.overview(tenant_id integer, pools_of_tenant_id integer) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.overview(tenant_id integer, pools_of_tenant_id integer) OWNER TO weft_system;

CREATE FUNCTION weft.overview_counts(tenant_id integer) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.overview_counts(tenant_id integer) OWNER TO weft_system;

CREATE FUNCTION weft.pass_batches(epoch bigint, of_operation_id bigint, down_to bigint, n_idle bigint, skipped text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.pass_batches(epoch bigint, of_operation_id bigint, down_to bigint, n_idle bigint, skipped text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.pass_gates(epoch bigint, limit_jobs integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.pass_gates(epoch bigint, limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.patrol(epoch bigint, from_tenant integer, from_batch bigint, after_job integer, limit_jobs integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.patrol(epoch bigint, from_tenant integer, from_batch bigint, after_job integer, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft.pool_offers() RETURNS TABLE(cpu_m bigint, memory_mib bigint, offers jsonb, serves_tenant_id integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.pool_offers() OWNER TO weft_system;

CREATE FUNCTION weft.pool_rounds(epoch bigint, limit_jobs integer) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.pool_rounds(epoch bigint, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft.postpone_conditions(epoch bigint, condition_ids bigint[], limit_jobs integer, due_s double precision DEFAULT 0, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.postpone_conditions(epoch bigint, condition_ids bigint[], limit_jobs integer, due_s double precision, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.preempt_jobs(epoch bigint, waiting_batch_id bigint, waiting_job_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], wait_s double precision) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.preempt_jobs(epoch bigint, waiting_batch_id bigint, waiting_job_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], wait_s double precision) OWNER TO weft_system;

CREATE FUNCTION weft.preemption_rounds(epoch bigint) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.preemption_rounds(epoch bigint) OWNER TO weft_system;

CREATE FUNCTION weft.prioritize_group(tenant_id integer, user_id integer, batch_id bigint, group_id integer, patch jsonb, attributes_max integer, groups_max integer, actor text, trace_id text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.prioritize_group(tenant_id integer, user_id integer, batch_id bigint, group_id integer, patch jsonb, attributes_max integer, groups_max integer, actor text, trace_id text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.recent_ends(epoch bigint, window_s double precision, fast_s double precision, limit_events integer) RETURNS TABLE(worker_id integer, pool_id integer, batch_id bigint, at timestamp with time zone, successes bigint, fast_failures bigint, slow_failures bigint, is_active boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.recent_ends(epoch bigint, window_s double precision, fast_s double precision, limit_events integer) OWNER TO weft_system;

CREATE FUNCTION weft.reconcile_machines(epoch bigint, of_provider text, names text[], asked_s double precision) RETURNS TABLE(pool text, machine text, finding text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.reconcile_machines(epoch bigint, of_provider text, names text[], asked_s double precision) OWNER TO weft_system;

CREATE FUNCTION weft.record_audit(took_ms bigint, version text, n_checks integer, wrong jsonb, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE sql;
ALTER FUNCTION weft.record_audit(took_ms bigint, version text, n_checks integer, wrong jsonb, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.record_deliveries(epoch bigint, delivery_ids bigint[], delivered_list boolean[], statuses integer[], errors text[], retries_in_s double precision[], at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.record_deliveries(epoch bigint, delivery_ids bigint[], delivered_list boolean[], statuses integer[], errors text[], retries_in_s double precision[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.record_machine(epoch bigint, machine text, kind text, provider_id text, reason text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.record_machine(epoch bigint, machine text, kind text, provider_id text, reason text) OWNER TO weft_system;

CREATE FUNCTION weft.record_phases(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], phases smallint[]) RETURNS text[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.record_phases(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], phases smallint[]) OWNER TO weft_system;

CREATE FUNCTION weft.record_request(request jsonb, n_rows bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.record_request(request jsonb, n_rows bigint) OWNER TO weft_system;

CREATE FUNCTION weft.record_tests(epoch bigint, condition_ids bigint[], have_passed boolean[], messages text[], at timestamp with time zone DEFAULT clock_timestamp()) RETURNS SETOF bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.record_tests(epoch bigint, condition_ids bigint[], have_passed boolean[], messages text[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.recovery_due(epoch bigint) RETURNS interval
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.recovery_due(epoch bigint) OWNER TO weft_system;

CREATE FUNCTION weft.redeliver_callback(tenant_id integer, batch_id bigint, of_delivery_id bigint, of_name uuid, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.redeliver_callback(tenant_id integer, batch_id bigint, of_delivery_id bigint, of_name uuid, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.register_worker(name text, host text, pool text, incarnation text, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, offers jsonb, version text, proved_gone boolean, grace_s double precision, log_place text DEFAULT NULL::text, log_directory text DEFAULT NULL::text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(worker_id integer, incarnation_id integer, pool_id integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.register_worker(name text, host text, pool text, incarnation text, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, offers jsonb, version text, proved_gone boolean, grace_s double precision, log_place text, log_directory text, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.release_blocked(epoch bigint, limit_jobs integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.release_blocked(epoch bigint, limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.release_condition(tenant_id integer, of_condition_id bigint, n_more integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.release_condition(tenant_id integer, of_condition_id bigint, n_more integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.release_conditions(epoch bigint, limit_jobs integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.release_conditions(epoch bigint, limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.release_group(tenant_id integer, batch_id bigint, group_id integer, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.release_group(tenant_id integer, batch_id bigint, group_id integer, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.release_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(job_id integer, outcome text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.release_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.remove_batch(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.remove_batch(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.remove_licence(of_name text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.remove_licence(of_name text) OWNER TO weft_system;

CREATE FUNCTION weft.remove_old(epoch bigint, events_keep_s double precision, updates_keep_s double precision, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.remove_old(epoch bigint, events_keep_s double precision, updates_keep_s double precision, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.remove_saved_query(tenant_id integer, user_id integer, of_name text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.remove_saved_query(tenant_id integer, user_id integer, of_name text) OWNER TO weft_tenant;

CREATE FUNCTION weft.remove_secret(tenant_id integer, user_id integer, of_name text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.remove_secret(tenant_id integer, user_id integer, of_name text) OWNER TO weft_tenant;

CREATE FUNCTION weft.remove_user(tenant_id integer, by_user_id integer, by_role text, of_name text, may_give text[], at timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.remove_user(tenant_id integer, by_user_id integer, by_role text, of_name text, may_give text[], at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.reseal_secrets(by_user_id integer, user_ids integer[], names text[], former bytea[], bodies bytea[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.reseal_secrets(by_user_id integer, user_ids integer[], names text[], former bytea[], bodies bytea[]) OWNER TO weft_system;

CREATE FUNCTION weft.reserve_rounds(epoch bigint, after_s double precision) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.reserve_rounds(epoch bigint, after_s double precision) OWNER TO weft_system;

CREATE FUNCTION weft.resubmit_batch(tenant_id integer, user_id integer, batch_id bigint, failed boolean, changes jsonb, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.resubmit_batch(tenant_id integer, user_id integer, batch_id bigint, failed boolean, changes jsonb, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.retry_failed(epoch bigint, of_operation_id bigint, matching integer[], looked_upto bigint, limit_rows integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.retry_failed(epoch bigint, of_operation_id bigint, matching integer[], looked_upto bigint, limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.retry_jobs(tenant_id integer, user_id integer, batch_id bigint, job_ids integer[], query text, within_group integer, cause_id bigint, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.retry_jobs(tenant_id integer, user_id integer, batch_id bigint, job_ids integer[], query text, within_group integer, cause_id bigint, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.revoke_token(tenant_id integer, user_id integer, of_token_id bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.revoke_token(tenant_id integer, user_id integer, of_token_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft.running_operations(epoch bigint, above_id bigint, limit_operations integer) RETURNS TABLE(operation_id bigint, tenant_id integer, batch_id bigint, kind text, arguments jsonb, "position" bigint, n_total bigint, trace_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.running_operations(epoch bigint, above_id bigint, limit_operations integer) OWNER TO weft_system;

CREATE FUNCTION weft.sample_attempts(tenant_id integer, batch_id bigint, limit_jobs integer) RETURNS TABLE(job_id integer, state smallint, ready_at timestamp with time zone, cancelled_at timestamp with time zone, attempt smallint, worker text, end_state smallint, claimed_at timestamp with time zone, started_at timestamp with time zone, ended_at timestamp with time zone, released_at timestamp with time zone, now_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.sample_attempts(tenant_id integer, batch_id bigint, limit_jobs integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.save_pools(pools jsonb, actor text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.save_pools(pools jsonb, actor text) OWNER TO weft_system;

CREATE FUNCTION weft.save_query(tenant_id integer, user_id integer, of_name text, of_query text, queries_max integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.save_query(tenant_id integer, user_id integer, of_name text, of_query text, queries_max integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.save_queues(tenant_id integer, queues jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.save_queues(tenant_id integer, queues jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft.schedules_due(epoch bigint) RETURNS interval
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.schedules_due(epoch bigint) OWNER TO weft_system;

CREATE FUNCTION weft.schema_range(OUT schema integer, OUT oldest_program integer) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.schema_range(OUT schema integer, OUT oldest_program integer) OWNER TO weft_system;

CREATE FUNCTION weft.seal_trail(epoch bigint, limit_jobs integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan';
ALTER FUNCTION weft.seal_trail(epoch bigint, limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.sees_batch(tenant_id integer, batch_id bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.sees_batch(tenant_id integer, batch_id bigint) OWNER TO weft_tenant;

CREATE FUNCTION weft.set_licence(of_name text, count integer, actor text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.set_licence(of_name text, count integer, actor text) OWNER TO weft_system;

CREATE FUNCTION weft.set_limit(tenant_id integer, kind text, of_name text, of_batch_id bigint, group_id integer, path text, measure text, patch jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.set_limit(tenant_id integer, kind text, of_name text, of_batch_id bigint, group_id integer, path text, measure text, patch jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft.set_machine_prices(prices jsonb, actor text) RETURNS integer
    LANGUAGE plpgsql;
ALTER FUNCTION weft.set_machine_prices(prices jsonb, actor text) OWNER TO weft_system;

CREATE FUNCTION weft.set_priorities(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.set_priorities(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.set_project_member(tenant_id integer, of_name text, of_user text, is_member boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.set_project_member(tenant_id integer, of_name text, of_user text, is_member boolean) OWNER TO weft_tenant;

CREATE FUNCTION weft.set_quota(tenant_id integer, of_name text, patch jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.set_quota(tenant_id integer, of_name text, patch jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft.set_secret(tenant_id integer, user_id integer, of_name text, of_body bytea, secrets_max integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.set_secret(tenant_id integer, user_id integer, of_name text, of_body bytea, secrets_max integer, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.set_tenant(tenant_id integer, of_name text, patch jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.set_tenant(tenant_id integer, of_name text, patch jsonb) OWNER TO weft_tenant;

CREATE FUNCTION weft.set_tenant_quota(of_name text, patch jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.set_tenant_quota(of_name text, patch jsonb) OWNER TO weft_system;

CREATE FUNCTION weft.set_user_role(tenant_id integer, by_user_id integer, by_role text, of_name text, new_role text, may_give text[]) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.set_user_role(tenant_id integer, by_user_id integer, by_role text, of_name text, new_role text, may_give text[]) OWNER TO weft_tenant;

CREATE FUNCTION weft.settle_children(epoch bigint, limit_jobs integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.settle_children(epoch bigint, limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.share_batch(tenant_id integer, batch_id bigint, of_user text, permission integer, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.share_batch(tenant_id integer, batch_id bigint, of_user text, permission integer, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.share_job(tenant_id integer, batch_id bigint, job_id integer, of_user text, permission integer, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.share_job(tenant_id integer, batch_id bigint, job_id integer, of_user text, permission integer, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.signal_job(tenant_id integer, batch_id bigint, job_id integer, signal integer, word text, actor text, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.signal_job(tenant_id integer, batch_id bigint, job_id integer, signal integer, word text, actor text, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.start_attempts(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], ages_us bigint[], at timestamp with time zone DEFAULT clock_timestamp()) RETURNS text[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.start_attempts(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], ages_us bigint[], at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.stop_overdue(epoch bigint, limit_jobs integer, confirm_s double precision, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(batch_id bigint, job_id integer, attempt smallint, worker text, message text, goes_on boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.stop_overdue(epoch bigint, limit_jobs integer, confirm_s double precision, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.stop_work(tenant_id integer, of_user_id integer, error jsonb, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.stop_work(tenant_id integer, of_user_id integer, error jsonb, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.submit(tenant_id integer, user_id integer, of_batch_id bigint, batch jsonb, groups weft.group_columns, new_jobs integer, jobs weft.job_columns, depth_max integer, groups_max integer, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(batch_id bigint, update_id integer, first_job integer, first_group integer, n_jobs integer, n_groups integer, committed boolean, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan';
ALTER FUNCTION weft.submit(tenant_id integer, user_id integer, of_batch_id bigint, batch jsonb, groups weft.group_columns, new_jobs integer, jobs weft.job_columns, depth_max integer, groups_max integer, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.sum_workers(pools_of_tenant_id integer, limit_rows integer) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off';
ALTER FUNCTION weft.sum_workers(pools_of_tenant_id integer, limit_rows integer) OWNER TO weft_system;

CREATE FUNCTION weft.sweep_cancelled(epoch bigint, limit_jobs integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off';
ALTER FUNCTION weft.sweep_cancelled(epoch bigint, limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.sweep_deadlines(epoch bigint, limit_jobs integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.sweep_deadlines(epoch bigint, limit_jobs integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.sweep_holds(epoch bigint, limit_jobs integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.sweep_holds(epoch bigint, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft.take_schedule_runs(limit_rows integer, lease_s double precision, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(schedule_id bigint, due_at timestamp with time zone, cron text, time_zone text, document text, tenant_id integer, user_id integer, user_name text, role text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.take_schedule_runs(limit_rows integer, lease_s double precision, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.tenant_name(tenant_id integer) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.tenant_name(tenant_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.test_condition(tenant_id integer, of_condition_id bigint, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.test_condition(tenant_id integer, of_condition_id bigint, at timestamp with time zone) OWNER TO weft_tenant;

CREATE FUNCTION weft.test_pool(epoch bigint, of_condition_id bigint, of_pool text, free_cpu_m bigint, OUT passed boolean, OUT message text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.test_pool(epoch bigint, of_condition_id bigint, of_pool text, free_cpu_m bigint, OUT passed boolean, OUT message text) OWNER TO weft_system;

CREATE FUNCTION weft.trim_trail(epoch bigint, keep_s double precision, limit_rows integer, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.trim_trail(epoch bigint, keep_s double precision, limit_rows integer, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.uncordon_worker(of_name text, of_pool text, actor text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.uncordon_worker(of_name text, of_pool text, actor text) OWNER TO weft_system;

CREATE FUNCTION weft.wait_for_events(listener_id uuid, waits boolean, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.wait_for_events(listener_id uuid, waits boolean, at timestamp with time zone) OWNER TO weft_system;

CREATE FUNCTION weft.wait_for_work(incarnation_id integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.wait_for_work(incarnation_id integer) OWNER TO weft_system;

CREATE FUNCTION weft.was_project(tenant_id integer, of_name text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.was_project(tenant_id integer, of_name text) OWNER TO weft_tenant;

CREATE FUNCTION weft.weigh_users(epoch bigint, limit_jobs integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp';
ALTER FUNCTION weft.weigh_users(epoch bigint, limit_jobs integer) OWNER TO weft_system;

CREATE FUNCTION weft.why_group(tenant_id integer, batch_id bigint, group_id integer, path text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.why_group(tenant_id integer, batch_id bigint, group_id integer, path text) OWNER TO weft_tenant;

CREATE FUNCTION weft.why_job(tenant_id integer, batch_id bigint, job_id integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.why_job(tenant_id integer, batch_id bigint, job_id integer) OWNER TO weft_tenant;

CREATE FUNCTION weft.why_jobs(tenant_id integer, batch_id bigint, job_ids integer[]) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off';
ALTER FUNCTION weft.why_jobs(tenant_id integer, batch_id bigint, job_ids integer[]) OWNER TO weft_tenant;

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

CREATE TABLE weft.attempt_reason (
    reason smallint NOT NULL,
    word text NOT NULL
);
ALTER TABLE weft.attempt_reason OWNER TO postgres;

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
    project_id integer NOT NULL
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

CREATE TABLE weft.driver_state (
    one_row boolean DEFAULT true NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    waiting boolean DEFAULT false NOT NULL,
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
    sweep_job integer NOT NULL
);
ALTER TABLE weft.job_deadline OWNER TO postgres;

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
    max_running integer,
    max_running_per_user integer,
    max_waiting integer,
    transport text DEFAULT 'postgres'::text NOT NULL,
    monitor jsonb,
    CONSTRAINT queue_guard_check CHECK ((length(guard) <= 1000)),
    CONSTRAINT queue_max_running_check CHECK ((max_running >= 0)),
    CONSTRAINT queue_max_running_per_user_check CHECK ((max_running_per_user >= 0)),
    CONSTRAINT queue_max_waiting_check CHECK ((max_waiting >= 0)),
    CONSTRAINT queue_name_check CHECK (((length(name) >= 1) AND (length(name) <= 256))),
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

ALTER TABLE weft.spend_limit ALTER COLUMN limit_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME weft.spend_limit_limit_id_seq
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

CREATE TABLE weft.worker_change (
    worker_id integer NOT NULL,
    change_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    state text NOT NULL,
    actor text NOT NULL,
    reason text,
    CONSTRAINT worker_change_state_check CHECK ((state = ANY (ARRAY['active'::text, 'cordoned'::text, 'draining'::text, 'deleted'::text])))
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

ALTER TABLE ONLY weft.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (batch_id, job_id, attempt);

ALTER TABLE ONLY weft.attempt_reason
    ADD CONSTRAINT attempt_reason_pkey PRIMARY KEY (reason);

ALTER TABLE ONLY weft.attempt_reason
    ADD CONSTRAINT attempt_reason_word_key UNIQUE (word);

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

ALTER TABLE ONLY weft.failure_cause
    ADD CONSTRAINT failure_cause_pkey PRIMARY KEY (batch_id, cause_id);

ALTER TABLE ONLY weft.failure_count
    ADD CONSTRAINT failure_count_pkey PRIMARY KEY (batch_id, group_id);

ALTER TABLE ONLY weft.fold
    ADD CONSTRAINT fold_pkey PRIMARY KEY (one_row);

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

ALTER TABLE ONLY weft.job_cancel
    ADD CONSTRAINT job_cancel_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job_change
    ADD CONSTRAINT job_change_pkey PRIMARY KEY (batch_id, job_id, change_id);

ALTER TABLE ONLY weft.job_command
    ADD CONSTRAINT job_command_pkey PRIMARY KEY (command_id);

ALTER TABLE ONLY weft.job_deadline
    ADD CONSTRAINT job_deadline_pkey PRIMARY KEY (batch_id, first_job);

ALTER TABLE ONLY weft.job_group
    ADD CONSTRAINT job_group_pkey PRIMARY KEY (batch_id, group_id);

ALTER TABLE ONLY weft.job_hold
    ADD CONSTRAINT job_hold_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job_label
    ADD CONSTRAINT job_label_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (batch_id, job_id);

ALTER TABLE ONLY weft.job_spec
    ADD CONSTRAINT job_spec_pkey PRIMARY KEY (batch_id, first_job);

ALTER TABLE ONLY weft.job_state
    ADD CONSTRAINT job_state_pkey PRIMARY KEY (state);

ALTER TABLE ONLY weft.job_state
    ADD CONSTRAINT job_state_word_key UNIQUE (word);

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

ALTER TABLE ONLY weft.shape
    ADD CONSTRAINT shape_cpu_m_memory_mib_storage_mib_gpu_countables_key UNIQUE (cpu_m, memory_mib, storage_mib, gpu, countables);

ALTER TABLE ONLY weft.shape
    ADD CONSTRAINT shape_pkey PRIMARY KEY (shape_id);

ALTER TABLE ONLY weft.spend_limit
    ADD CONSTRAINT spend_limit_pkey PRIMARY KEY (limit_id);

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

ALTER TABLE ONLY weft.trail_entry
    ADD CONSTRAINT trail_entry_pkey PRIMARY KEY (number);

ALTER TABLE ONLY weft.trail_entry
    ADD CONSTRAINT trail_entry_request_id_key UNIQUE (request_id);

ALTER TABLE ONLY weft.trail_head
    ADD CONSTRAINT trail_head_pkey PRIMARY KEY (singleton);

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

CREATE INDEX attempt_failure_idx ON weft.attempt USING btree (batch_id, job_id) WHERE (reason IS NOT NULL);

CREATE INDEX attempt_stop_due_at_idx ON weft.attempt_stop USING btree (due_at);

CREATE INDEX attempt_stop_incarnation_id_idx ON weft.attempt_stop USING btree (incarnation_id);

CREATE INDEX attempt_watch_due_at_idx ON weft.attempt_watch USING btree (due_at);

CREATE INDEX attempt_watch_incarnation_id_idx ON weft.attempt_watch USING btree (incarnation_id);

CREATE INDEX batch_created_idx ON weft.batch USING btree (tenant_id, created_at, batch_id);

CREATE INDEX batch_grant_job_idx ON weft.batch_grant USING btree (user_id, batch_id, job_id) WHERE (job_id > 0);

CREATE INDEX batch_grant_user_idx ON weft.batch_grant USING btree (user_id, batch_id) WHERE (job_id = 0);

CREATE UNIQUE INDEX batch_idempotency_key_idx ON weft.batch USING btree (user_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX batch_name_idx ON weft.batch USING btree (tenant_id, name, batch_id) WHERE (name IS NOT NULL);

CREATE INDEX batch_project_created_idx ON weft.batch USING btree (project_id, created_at, batch_id);

CREATE INDEX batch_project_idx ON weft.batch USING btree (project_id, batch_id);

CREATE INDEX batch_project_name_idx ON weft.batch USING btree (project_id, name, batch_id) WHERE (name IS NOT NULL);

CREATE INDEX batch_tenant_idx ON weft.batch USING btree (tenant_id, batch_id);

CREATE INDEX batch_update_first_job_idx ON weft.batch_update USING btree (batch_id, first_job);

CREATE UNIQUE INDEX batch_update_idempotency_key_idx ON weft.batch_update USING btree (batch_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX batch_update_open_idx ON weft.batch_update USING btree (created_at) WHERE (committed_at IS NULL);

CREATE INDEX batch_usage_project_idx ON weft.batch_usage USING btree (project_id, usage_on);

CREATE INDEX batch_user_created_idx ON weft.batch USING btree (user_id, created_at, batch_id);

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

CREATE INDEX callback_delivery_due_idx ON weft.callback_delivery USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX callback_delivery_host_idx ON weft.callback_delivery USING btree (tenant_id, host, next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX condition_batch_oldest_idx ON weft.condition_batch USING btree (condition_id, batch_id);

CREATE INDEX condition_batch_owner_idx ON weft.condition_batch USING btree (owner_id, condition_id);

CREATE INDEX condition_batch_project_idx ON weft.condition_batch USING btree (project_id, condition_id);

CREATE INDEX condition_delta_condition_id_idx ON weft.condition_delta USING btree (condition_id);

CREATE INDEX condition_failed_idx ON weft.condition USING btree (condition_id) WHERE (failed_by IS NOT NULL);

CREATE INDEX condition_going_idx ON weft.condition USING btree (condition_id) WHERE (n_going > 0);

CREATE INDEX condition_next_test_at_idx ON weft.condition USING btree (next_test_at);

CREATE INDEX condition_page_idx ON weft.condition USING btree (tenant_id, condition_id);

CREATE INDEX core_sweep_open_idx ON weft.core_sweep USING btree (tenant_id, user_id) WHERE (done_at IS NULL);

CREATE INDEX dead_letter_cause_idx ON weft.dead_letter USING btree (batch_id, acknowledged, cause_id, job_id);

CREATE INDEX edge_child_idx ON weft.edge USING btree (batch_id, child_id, parent_id);

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

CREATE INDEX gate_batch_id_idx ON weft.gate USING btree (batch_id) WHERE (batch_id IS NOT NULL);

CREATE INDEX gate_member_batch_id_idx ON weft.gate_member USING btree (batch_id) WHERE (batch_id IS NOT NULL);

CREATE INDEX gate_member_gate_set_id_idx ON weft.gate_member USING btree (gate_set_id, gate_id);

CREATE INDEX gate_opens_at_idx ON weft.gate USING btree (opens_at) WHERE (opens_at IS NOT NULL);

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

CREATE INDEX job_change_error_idx ON weft.job_change USING btree (batch_id, job_id) WHERE (to_state = 8);

CREATE INDEX job_command_batch_id_job_id_idx ON weft.job_command USING btree (batch_id, job_id);

CREATE UNIQUE INDEX job_command_extension_idx ON weft.job_command USING btree (batch_id, job_id) WHERE (extend_ms IS NOT NULL);

CREATE INDEX job_deadline_due_at_idx ON weft.job_deadline USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX job_delta_xid_idx ON weft.job_delta USING btree (xid);

CREATE INDEX job_group_parent_idx ON weft.job_group USING btree (batch_id, parent_id, group_id) WHERE (parent_id IS NOT NULL);

CREATE UNIQUE INDEX job_group_path_idx ON weft.job_group USING btree (batch_id, path);

CREATE UNIQUE INDEX job_group_set_name_idx ON weft.job_group USING btree (batch_id, name) WHERE is_set;

CREATE INDEX job_label_name_idx ON weft.job_label USING btree (batch_id, name, job_id) WHERE (name IS NOT NULL);

CREATE INDEX lane_machine_idx ON weft.lane USING btree (lane_id) WHERE (asks ? 'machine'::text);

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

CREATE INDEX parent_end_child_idx ON weft.parent_end USING btree (batch_id, child_id);

CREATE INDEX place_gate_id_idx ON weft.place USING btree (gate_id, admitted_at);

CREATE INDEX pool_serves_idx ON weft.pool USING btree (serves_tenant_id, name);

CREATE INDEX preemption_for_idx ON weft.preemption USING btree (for_batch_id, for_job_id);

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

CREATE UNIQUE INDEX spend_limit_batch_idx ON weft.spend_limit USING btree (batch_id, group_id, measure) WHERE (batch_id IS NOT NULL);

CREATE INDEX spend_limit_of_batch_idx ON weft.spend_limit USING btree (batch_id, limit_id) WHERE ((batch_id IS NOT NULL) AND ((amount_max IS NOT NULL) OR (amount_soft_max IS NOT NULL) OR (stage <> 'below'::text)));

CREATE INDEX spend_limit_owner_idx ON weft.spend_limit USING btree (owner_id, limit_id) WHERE ((amount_max IS NOT NULL) OR (amount_soft_max IS NOT NULL) OR (stage <> 'below'::text));

CREATE INDEX spend_limit_page_idx ON weft.spend_limit USING btree (tenant_id, limit_id) WHERE ((amount_max IS NOT NULL) OR (amount_soft_max IS NOT NULL) OR (stage <> 'below'::text));

CREATE UNIQUE INDEX spend_limit_project_idx ON weft.spend_limit USING btree (project_id, measure) WHERE (project_id IS NOT NULL);

CREATE INDEX spend_limit_shared_idx ON weft.spend_limit USING btree (shared_project_id, limit_id) WHERE ((amount_max IS NOT NULL) OR (amount_soft_max IS NOT NULL) OR (stage <> 'below'::text));

CREATE INDEX spend_limit_unapplied_idx ON weft.spend_limit USING btree (limit_id) WHERE (applied_at IS NULL);

CREATE UNIQUE INDEX spend_limit_user_idx ON weft.spend_limit USING btree (user_id, measure) WHERE (user_id IS NOT NULL);

CREATE UNIQUE INDEX tenant_name_key_idx ON weft.tenant USING btree (name_key);

CREATE UNIQUE INDEX tenant_user_name_key_idx ON weft.tenant_user USING btree (tenant_id, name_key);

CREATE INDEX tenant_user_page_idx ON weft.tenant_user USING btree (tenant_id, user_id) WHERE (removed_at IS NULL);

CREATE INDEX token_user_idx ON weft.token USING btree (user_id, token_id);

CREATE INDEX trail_entry_action_idx ON weft.trail_entry USING btree (tenant_id, action, number);

CREATE INDEX trail_entry_batch_id_idx ON weft.trail_entry USING btree (batch_id, number) WHERE (batch_id IS NOT NULL);

CREATE INDEX trail_entry_sealed_at_idx ON weft.trail_entry USING btree (sealed_at, number);

CREATE INDEX trail_entry_tenant_id_idx ON weft.trail_entry USING btree (tenant_id, number);

CREATE INDEX trail_entry_user_name_idx ON weft.trail_entry USING btree (tenant_id, user_name, number);

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

CREATE TRIGGER job_transition_is_legal AFTER UPDATE OF state ON weft.job FOR EACH ROW WHEN (((old.state <> new.state) AND (((('{770,796,818,786,994,898,0,3,3,3}'::integer[])[(old.state + 1)] >> (new.state)::integer) & 1) = 0))) EXECUTE FUNCTION weft._refuse_transition();

CREATE TRIGGER limit_begins BEFORE INSERT ON weft.spend_limit FOR EACH ROW EXECUTE FUNCTION weft._note_limited();

CREATE TRIGGER machines_begin AFTER INSERT ON weft.machine REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION weft._sum_machines();

CREATE TRIGGER machines_change AFTER UPDATE ON weft.machine REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION weft._sum_machines();

CREATE TRIGGER machines_go AFTER DELETE ON weft.machine REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION weft._sum_machines();

CREATE TRIGGER operation_begins BEFORE INSERT ON weft.operation FOR EACH ROW WHEN ((new.batch_id IS NOT NULL)) EXECUTE FUNCTION weft._note_owner();

CREATE TRIGGER worker_begins AFTER INSERT ON weft.worker_incarnation FOR EACH ROW WHEN ((new.ended_at IS NULL)) EXECUTE FUNCTION weft._count_worker();

CREATE TRIGGER worker_ends AFTER UPDATE OF ended_at ON weft.worker_incarnation FOR EACH ROW WHEN (((old.ended_at IS NULL) <> (new.ended_at IS NULL))) EXECUTE FUNCTION weft._count_worker();

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

ALTER TABLE ONLY weft.machine
    ADD CONSTRAINT machine_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES weft.pool(pool_id);

ALTER TABLE ONLY weft.pool_change
    ADD CONSTRAINT pool_change_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES weft.pool(pool_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.pool_cost
    ADD CONSTRAINT pool_cost_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES weft.pool(pool_id) ON DELETE CASCADE;

ALTER TABLE ONLY weft.pool
    ADD CONSTRAINT pool_serves_tenant_id_fkey FOREIGN KEY (serves_tenant_id) REFERENCES weft.tenant(tenant_id);

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

ALTER TABLE ONLY weft.shape
    ADD CONSTRAINT shape_lane_id_fkey FOREIGN KEY (lane_id) REFERENCES weft.lane(lane_id);

ALTER TABLE ONLY weft.spend_limit
    ADD CONSTRAINT spend_limit_project_id_fkey FOREIGN KEY (project_id) REFERENCES weft.billing_project(project_id);

ALTER TABLE ONLY weft.spend_limit
    ADD CONSTRAINT spend_limit_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.spend_limit
    ADD CONSTRAINT spend_limit_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

ALTER TABLE ONLY weft.tenant_user
    ADD CONSTRAINT tenant_user_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.token
    ADD CONSTRAINT token_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES weft.tenant(tenant_id);

ALTER TABLE ONLY weft.token
    ADD CONSTRAINT token_user_id_fkey FOREIGN KEY (user_id) REFERENCES weft.tenant_user(user_id);

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

ALTER TABLE weft.attempt ENABLE ROW LEVEL SECURITY;

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

ALTER TABLE weft.edge ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.empty_batch ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.event ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.failure_cause ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.failure_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.failure_delta ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.gate ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.gate_member ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.gate_note ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.gate_pause ENABLE ROW LEVEL SECURITY;

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

ALTER TABLE weft.job_cancel ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_command ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_deadline ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_delta ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_group ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_hold ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_label ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.job_spec ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.late_job ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.licence ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.machine ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.member_span ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.membership ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.operation ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.parent_end ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.place ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.pool_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.pool_cost ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.preemption ENABLE ROW LEVEL SECURITY;

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

ALTER TABLE weft.spend_limit ENABLE ROW LEVEL SECURITY;

CREATE POLICY system_rows ON weft.admission TO weft_system USING (true);

CREATE POLICY system_rows ON weft.attempt TO weft_system USING (true);

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

CREATE POLICY system_rows ON weft.edge TO weft_system USING (true);

CREATE POLICY system_rows ON weft.empty_batch TO weft_system USING (true);

CREATE POLICY system_rows ON weft.event TO weft_system USING (true);

CREATE POLICY system_rows ON weft.failure_cause TO weft_system USING (true);

CREATE POLICY system_rows ON weft.failure_count TO weft_system USING (true);

CREATE POLICY system_rows ON weft.failure_delta TO weft_system USING (true);

CREATE POLICY system_rows ON weft.gate TO weft_system USING (true);

CREATE POLICY system_rows ON weft.gate_member TO weft_system USING (true);

CREATE POLICY system_rows ON weft.gate_note TO weft_system USING (true);

CREATE POLICY system_rows ON weft.gate_pause TO weft_system USING (true);

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

CREATE POLICY system_rows ON weft.job_cancel TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_change TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_command TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_deadline TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_delta TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_group TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_hold TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_label TO weft_system USING (true);

CREATE POLICY system_rows ON weft.job_spec TO weft_system USING (true);

CREATE POLICY system_rows ON weft.late_job TO weft_system USING (true);

CREATE POLICY system_rows ON weft.licence TO weft_system USING (true);

CREATE POLICY system_rows ON weft.machine TO weft_system USING (true);

CREATE POLICY system_rows ON weft.member_span TO weft_system USING (true);

CREATE POLICY system_rows ON weft.membership TO weft_system USING (true);

CREATE POLICY system_rows ON weft.operation TO weft_system USING (true);

CREATE POLICY system_rows ON weft.parent_end TO weft_system USING (true);

CREATE POLICY system_rows ON weft.place TO weft_system USING (true);

CREATE POLICY system_rows ON weft.pool_change TO weft_system USING (true);

CREATE POLICY system_rows ON weft.pool_cost TO weft_system USING (true);

CREATE POLICY system_rows ON weft.preemption TO weft_system USING (true);

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

CREATE POLICY system_rows ON weft.spend_limit TO weft_system USING (true);

CREATE POLICY system_rows ON weft.tenant TO weft_system USING (true);

CREATE POLICY system_rows ON weft.tenant_user TO weft_system USING (true);

CREATE POLICY system_rows ON weft.token TO weft_system USING (true);

CREATE POLICY system_rows ON weft.trail_entry TO weft_system USING (true);

CREATE POLICY system_rows ON weft.trail_unsealed TO weft_system USING (true);

CREATE POLICY system_rows ON weft.usage_sum TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_batch_count TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_count TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_minute TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_share TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_storage TO weft_system USING (true);

CREATE POLICY system_rows ON weft.user_usage TO weft_system USING (true);

ALTER TABLE weft.tenant ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_rows ON weft.admission TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.attempt TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

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

CREATE POLICY tenant_rows ON weft.edge TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.empty_batch TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.event TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.failure_cause TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.failure_count TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.failure_delta TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

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

CREATE POLICY tenant_rows ON weft.job_cancel TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_change TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_command TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_deadline TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_delta TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_group TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_hold TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_label TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.job_spec TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.late_job TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.member_span TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.membership TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.operation TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.parent_end TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.place TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.preemption TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

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

CREATE POLICY tenant_rows ON weft.spend_limit TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.tenant TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.tenant_user TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.token TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.trail_entry TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.trail_unsealed TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.usage_sum TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_batch_count TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_count TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_minute TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_share TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_storage TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

CREATE POLICY tenant_rows ON weft.user_usage TO weft_tenant USING ((tenant_id = ( SELECT (current_setting('weft.tenant'::text))::integer AS current_setting)));

ALTER TABLE weft.tenant_user ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.token ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.trail_entry ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.trail_unsealed ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.usage_sum ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_batch_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_minute ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_share ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_storage ENABLE ROW LEVEL SECURITY;

ALTER TABLE weft.user_usage ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA weft TO weft_tenant;
GRANT USAGE ON SCHEMA weft TO weft_system;
GRANT USAGE ON SCHEMA weft TO weft_api;
GRANT USAGE ON SCHEMA weft TO weft_driver;
GRANT USAGE ON SCHEMA weft TO weft_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.bunch TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.bunch TO weft_system;
GRANT SELECT ON TABLE weft.bunch TO weft_api;
GRANT SELECT ON TABLE weft.bunch TO weft_driver;

REVOKE ALL ON FUNCTION weft._add_arrays(bunch weft.bunch, base integer, jobs weft.job_columns, shape_ids integer[], shape_lanes integer[], gate_sets integer[]) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_update TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch_update TO weft_system;
GRANT SELECT ON TABLE weft.batch_update TO weft_api;
GRANT SELECT ON TABLE weft.batch_update TO weft_driver;

REVOKE ALL ON FUNCTION weft._add_bunch(of_update weft.batch_update, bunch weft.bunch, jobs weft.job_columns, limited text[], cores jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._add_core_gates(of_tenant_id integer, of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._add_dead_letters(batch_ids bigint[], job_ids integer[], reasons smallint[], exit_codes integer[], signals smallint[], messages text[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._add_dead_letters(batch_ids bigint[], job_ids integer[], reasons smallint[], exit_codes integer[], signals smallint[], messages text[], at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._add_details(bunch weft.bunch, base integer, jobs weft.job_columns) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._add_edges(bunch weft.bunch, base integer, edge_children integer[], edge_parents integer[], OUT n_parents integer[], OUT bad_children integer[], OUT cross_children integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._add_failures(batch_ids bigint[], group_ids integer[], ns integer[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._add_failures(batch_ids bigint[], group_ids integer[], ns integer[], at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._add_members(tenant_id integer, of_batch_id bigint, set_id integer, of_job_ids integer[], sets_max integer, at timestamp with time zone, OUT n_added integer, OUT busy integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._add_members(tenant_id integer, of_batch_id bigint, set_id integer, of_job_ids integer[], sets_max integer, at timestamp with time zone, OUT n_added integer, OUT busy integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._add_ranges(batch_ids bigint[], update_ids integer[], lane_ids integer[], first_jobs integer[], last_jobs integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._add_ranges(batch_ids bigint[], update_ids integer[], lane_ids integer[], first_jobs integer[], last_jobs integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._add_rows(bunch weft.bunch, base integer, jobs weft.job_columns, shape_ids integer[], shape_lanes integer[], gate_sets integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._add_set(tenant_id integer, batch_id bigint, group_id integer, update_id integer, name text, attributes jsonb, cancel_after integer, callback text, hidden boolean, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._add_to_shares(pool_ids integer[], user_ids integer[], ready bigint[], ready_m bigint[], running_m bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._add_tree_group(of_tenant_id integer, of_batch_id bigint, of_update_id integer, of_group_id integer, of_parent_id integer, new_name text, new_attributes jsonb, cancel_after integer, new_callback text, depth_max integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._add_update_ranges(of_batch_id bigint, of_update_id integer, pool_id integer, user_id integer, lane_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._admissible_jobs(of_limit_ids integer[], limit_jobs integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._admit_head(of_gate_set_ids integer[], of_pool_id integer, of_user_id integer, locked_gate_ids integer[], limit_jobs integer, with_paused boolean, at timestamp with time zone, apart boolean, OUT n integer, OUT is_left boolean, OUT kept integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._admit_jobs(of_pool_id integer, of_user_id integer, gate_set_ids integer[], batch_ids bigint[], job_ids integer[], ranges bigint[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._announce(pool_ids integer[], user_ids integer[], lane_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._announce(pool_ids integer[], user_ids integer[], lane_ids integer[]) TO weft_tenant;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.operation TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.operation TO weft_system;

REVOKE ALL ON FUNCTION weft._announce_operation(operation weft.operation, kind text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._announce_operation(operation weft.operation, kind text, at timestamp with time zone) TO weft_system;

REVOKE ALL ON FUNCTION weft._as_tenant(tenant_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._as_tenant(tenant_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._ask_for_more(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._ask_to_admit(of_batch_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._attempt_to_tell(of_batch_id bigint, of_job_id integer, what text, OUT attempt smallint, OUT incarnation_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._attempts(of_batch_id bigint, of_job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._bad_parent(of_batch_id bigint, of_job_id integer, it_was boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._batch_pools(of_batch_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._batch_pools(of_batch_id bigint) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._batch_terms(of_batch_id bigint, ranged boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._begin_core_sweep(of_tenant_id integer, of_user_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._begin_core_sweep(of_tenant_id integer, of_user_id integer) TO weft_system;

REVOKE ALL ON FUNCTION weft._begin_creating(of_batch_id bigint, of_job_id integer, of_pool_id integer, cpu_m bigint, memory_mib bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._begin_deadlines(of_batch_id bigint, from_job integer, to_job integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._black_holes() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._black_holes_due() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._block_jobs(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._bunch_lanes(shape_lanes integer[], shape_indexes integer[], entry_ns integer[], OUT firsts integer[], OUT lane_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._caller_id() FROM PUBLIC;
GRANT ALL ON FUNCTION weft._caller_id() TO weft_system;

REVOKE ALL ON FUNCTION weft._can_hold(of_pool_id integer, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.spend_limit TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.spend_limit TO weft_system;

REVOKE ALL ON FUNCTION weft._cancel_for_limit(reached weft.spend_limit, limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._cancel_group(batch_id bigint, group_id integer, actor text, force boolean, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._cancel_group(batch_id bigint, group_id integer, actor text, force boolean, at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._cancelled_groups(of_batch_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._cause_id(reason smallint, exit_code integer, signal smallint, message text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._cause_id(reason smallint, exit_code integer, signal smallint, message text) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._cause_name(of_cause_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._causes(of_batch_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_batch(of_batch_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_bunch(of_update weft.batch_update, bunch weft.bunch) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_bytes(of_tenant_id integer, of_user_id integer, more bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._check_bytes(of_tenant_id integer, of_user_id integer, more bigint) TO weft_system;

REVOKE ALL ON FUNCTION weft._check_capacity(cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu bigint, offers jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_complete(of_batch_id bigint, of_update_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_epoch(of_epoch bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_group(of_batch_id bigint, of_group_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_job(of_batch_id bigint, of_job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_jobs(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_liftable(of_batch_id bigint, of_group_id integer, as_whole boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_open(of_batch_id bigint, of_group_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_permission(of_batch_id bigint, permission integer, what text) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_pools(of_tenant_id integer, names text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._check_pools(of_tenant_id integer, names text[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._check_queues(offers jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_quotas(of_tenant_id integer, of_update weft.batch_update) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_resubmitted(of_batch_id bigint, failed boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_retried(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_room(of_batch_id bigint, n_groups integer, groups_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_term(of_epoch bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._check_waiting(of_tenant_id integer, of_batch_id bigint, of_update_id integer) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.reservation TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.reservation TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker_incarnation TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker_incarnation TO weft_system;
GRANT SELECT ON TABLE weft.worker_incarnation TO weft_api;
GRANT SELECT ON TABLE weft.worker_incarnation TO weft_driver;

REVOKE ALL ON FUNCTION weft._claim_kept(worker weft.worker_incarnation, kept weft.reservation, rate_card_id smallint, call bigint, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._closed_gates(of_batch_id bigint, of_job_id integer, of_gate_set_ids integer[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._closed_gates(of_batch_id bigint, of_job_id integer, of_gate_set_ids integer[], at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._commit_copy(operation weft.operation, new_batch bigint, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._completed_at(created_at timestamp with time zone, last_ended_at timestamp with time zone, recorded timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._completed_at(created_at timestamp with time zone, last_ended_at timestamp with time zone, recorded timestamp with time zone) TO weft_tenant;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.condition TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.condition TO weft_system;

REVOKE ALL ON FUNCTION weft._condition_document(c weft.condition) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._conditions_due(busy bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._confirm_stops(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], are_gone boolean, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._copy_parts(from_batch bigint, to_batch bigint, arguments jsonb, limit_rows integer, has_quota boolean, OUT copied jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._cordon(of_name text, of_pool text, actor text, reason text, drains boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._core_gates(of_tenant_id integer, of_user_id integer, of_batch_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._core_gates(of_tenant_id integer, of_user_id integer, of_batch_id bigint) TO weft_system;

REVOKE ALL ON FUNCTION weft._core_gates_to_come(of_batch_id bigint, of_job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._core_sets(bunch weft.bunch, jobs weft.job_columns, cores jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._costs_of_parts(parts weft.cost_part[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._costs_of_usage(owners bigint[], rate_card_ids smallint[], shape_ids integer[], usage_ms_list numeric[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._costs_of_usage(owners bigint[], rate_card_ids smallint[], shape_ids integer[], usage_ms_list numeric[]) TO weft_system;

REVOKE ALL ON FUNCTION weft._costs_under_rates(version smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._costs_under_rates(version smallint) TO weft_system;

REVOKE ALL ON FUNCTION weft._count_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._count_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._count_failures(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._count_failures(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._count_machines(machine_ids integer[], shares double precision[]) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_delta TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_delta TO weft_system;
GRANT SELECT ON TABLE weft.job_delta TO weft_api;
GRANT SELECT ON TABLE weft.job_delta TO weft_driver;

REVOKE ALL ON FUNCTION weft._count_minutes(sums weft.job_delta[], old pg_snapshot, new pg_snapshot, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._count_notes(of_gate_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._count_stored(sums weft.job_delta[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._count_usage(sums weft.job_delta[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._count_users(sums weft.job_delta[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._count_worker() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._counted_failures(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._counted_failures(of_batch_id bigint, of_job_ids integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._create_batch(tenant_id integer, user_id integer, batch jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._create_operation(tenant_id integer, user_id integer, batch_id bigint, kind text, arguments jsonb, n_total bigint, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._create_operation(tenant_id integer, user_id integer, batch_id bigint, kind text, arguments jsonb, n_total bigint, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) TO weft_system;

REVOKE ALL ON FUNCTION weft._database_facts(limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._deactivate_idle_users() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._deadlines_due() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._delete_worker(of_worker_id integer, at timestamp with time zone) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.callback_delivery TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.callback_delivery TO weft_system;

REVOKE ALL ON FUNCTION weft._delivery_document(delivery weft.callback_delivery) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._end_as_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, kind text, message text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._end_as_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, kind text, message text) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._end_by_rules(rules jsonb, of_reason smallint, exit_code integer, signal smallint, OUT reason smallint, OUT is_final boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._end_late(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._end_late(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._end_operation(of_operation_id bigint, error jsonb, result jsonb, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._end_operation(of_operation_id bigint, error jsonb, result jsonb, at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._end_overdue(of_batch_id bigint, after_job integer, last_job integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._end_parents(batch_ids bigint[], child_ids integer[], oks boolean[], by_range boolean, noted boolean, at timestamp with time zone, OUT ended_batches bigint[], OUT ended_jobs integer[], OUT has_opened boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._end_parents(batch_ids bigint[], child_ids integer[], oks boolean[], by_range boolean, noted boolean, at timestamp with time zone, OUT ended_batches bigint[], OUT ended_jobs integer[], OUT has_opened boolean) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._end_rules(of_batch_id bigint, of_job_id integer, of_spec_first integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._end_sleep() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._end_surplus_sessions(of_user_id integer, of_session bigint, sessions_max integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._end_surplus_sessions(of_user_id integer, of_session bigint, sessions_max integer, at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._end_tokens(of_user_id integer, of_tokens bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._end_tokens(of_user_id integer, of_tokens bigint[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._end_waiting(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, error_kind text, error_message text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._end_waiting(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, error_kind text, error_message text) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._end_waiting_as_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, kind text, message text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._end_waiting_as_errors(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone, kind text, message text) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._error_change(of_batch_id bigint, of_job_id integer, OUT reason smallint, OUT message text) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._fail(code text, message text, detail text, hint text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._fail(code text, message text, detail text, hint text) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._failed_batches(of_tenant_id integer, upto bigint, are_acknowledged boolean, of_cause_id bigint, of_reason smallint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._fair_shares(of_pool_id integer, budget_cpu_m bigint, users_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._fill_gap(worker weft.worker_incarnation, within_s double precision, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, rate_card_id smallint, call bigint, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._find_group(of_batch_id bigint, of_group_id integer, of_path text) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._find_operation(of_user_id integer, of_key text, of_digest bytea) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._name_key(name text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._name_key(name text) TO weft_tenant;
GRANT ALL ON FUNCTION weft._name_key(name text) TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.billing_project TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.billing_project TO weft_system;
GRANT SELECT ON TABLE weft.billing_project TO weft_api;
GRANT SELECT ON TABLE weft.billing_project TO weft_driver;

REVOKE ALL ON FUNCTION weft._find_projects(of_tenant_id integer, of_names text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._find_resubmitted(of_batch_id bigint, new_batch bigint, failed boolean, from_job bigint, to_job bigint, limit_rows integer, at timestamp with time zone, OUT job_ids integer[], OUT upto bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._find_retried(of_batch_id bigint, named integer[], matching integer[], from_job bigint, to_job bigint, limit_rows integer, at timestamp with time zone, new_batch bigint, lifted integer[], OUT job_ids integer[], OUT upto bigint, OUT n_late integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._find_unreturned(batch_ids bigint[], job_ids integer[], states smallint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._find_worker(of_name text, of_pool text, of_tenant_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._first_parents(of_batch_id bigint, of_job_id integer, limit_parents integer, limit_counted integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._fit_budget(picked weft.picked, budget_cpu_m bigint, budget_memory_mib bigint, share_m bigint, at_least integer) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.pool TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.pool TO weft_system;
GRANT SELECT ON TABLE weft.pool TO weft_api;
GRANT SELECT ON TABLE weft.pool TO weft_driver;

REVOKE ALL ON FUNCTION weft._flavours(of_pool weft.pool) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._fold_machine_sums(rows_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._fold_worker_sums(rows_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._follow_ends(incarnation_id integer, batch_ids bigint[], job_ids integer[], states smallint[], again boolean, failed boolean, frees boolean, at timestamp with time zone, ended_at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._forget_failures(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._forget_failures(of_batch_id bigint, of_job_ids integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._free_places(batch_ids bigint[], job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._free_places(batch_ids bigint[], job_ids integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._furnish_tenant(of_tenant_id integer, of_user_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._gate_fields(of_batch_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._gate_fields(of_batch_id bigint) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._gate_set_id(of_gate_ids integer[], costs integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._gate_set_id(of_gate_ids integer[], costs integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._gates_due() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._give_back(own_gate_ids integer[], batch_ids bigint[], job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._give_core_gates(of_tenant_id integer, of_batch_id bigint, cores jsonb, after_job integer, limit_jobs integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._group_costs(batch_ids bigint[], group_ids integer[], folded boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._group_costs(batch_ids bigint[], group_ids integer[], folded boolean) TO weft_system;

REVOKE ALL ON FUNCTION weft._group_counts(batch_ids bigint[], group_ids integer[], folded boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._group_counts(batch_ids bigint[], group_ids integer[], folded boolean) TO weft_system;

REVOKE ALL ON FUNCTION weft._group_documents(batch_ids bigint[], group_ids integer[], folded boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._group_documents(batch_ids bigint[], group_ids integer[], folded boolean) TO weft_system;

REVOKE ALL ON FUNCTION weft._groups_of_limit(of_limit weft.spend_limit) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._growth(of_pool_id integer, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._guards(of_batch_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._has_claimable(offer weft.offer, worker weft.worker_incarnation, has_cancel boolean, has_switch boolean, lookahead_jobs integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._has_failure(reasons smallint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._has_lease(of_pool_id integer, of_lanes integer[], claimed_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._has_new_claims(of_pool_id integer, of_user_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._has_preempted(of_batch_id bigint, of_job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._has_switch(of_batch_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._has_switch(of_batch_id bigint) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._has_work(of_incarnation_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._heartbeat(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], draining boolean, claiming boolean, heard bigint[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._hold_for_limit(of_batch_ids bigint[], of_group_ids integer[], of_limit weft.spend_limit, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._hold_for_limit(of_batch_ids bigint[], of_group_ids integer[], of_limit weft.spend_limit, at timestamp with time zone) TO weft_system;

REVOKE ALL ON FUNCTION weft._holds_of(of_batch_id bigint, of_group_id integer, of_job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._intern_gates(of_tenant_id integer, of_batch_id bigint, lists jsonb[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._intern_gates(of_tenant_id integer, of_batch_id bigint, lists jsonb[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._intern_more(of_batch_id bigint, of_job_ids integer[], asked jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._intern_more(of_batch_id bigint, of_job_ids integer[], asked jsonb) TO weft_system;

REVOKE ALL ON FUNCTION weft._is_behind(operation weft.operation, VARIADIC kinds text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._is_cancelled(of_batch_id bigint, of_group_id integer, always_run boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._is_cancelled(of_batch_id bigint, of_group_id integer, always_run boolean) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._is_closed(of_batch_id bigint, of_group_id integer, of_job_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._is_closed(of_batch_id bigint, of_group_id integer, of_job_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._is_held(of_batch_id bigint, of_group_id integer, of_job_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._is_held(of_batch_id bigint, of_group_id integer, of_job_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._is_late(of_batch_id bigint, of_job_id integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._is_late(of_batch_id bigint, of_job_id integer, at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._is_member(of_batch_id bigint, of_group_id integer, of_ancestor_id integer) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.machine TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.machine TO weft_system;

REVOKE ALL ON FUNCTION weft._is_own_needed(m weft.machine, of_incarnation_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._is_paused(of_gate_set_id integer, of_pool_id integer, of_shape_id integer, at timestamp with time zone) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job TO weft_system;
GRANT SELECT ON TABLE weft.job TO weft_api;
GRANT SELECT ON TABLE weft.job TO weft_driver;

REVOKE ALL ON FUNCTION weft._is_preemptible(job weft.job) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._is_same_bunch(of_batch_id bigint, of_update_id integer, of_first_job integer, of_n_jobs integer, of_digest bytea) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._is_shut(of_batch_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._is_stopping(of_batch_id bigint, group_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._is_untouched(x xid, snapshot pg_snapshot) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._is_within(ranges jsonb, code integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._is_within(ranges jsonb, code integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._job_documents(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._job_gate_sets(bunch weft.bunch, base integer, jobs weft.job_columns) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._job_gates(of_batch_set integer, of_job_set integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._job_gates(of_batch_set integer, of_job_set integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._job_span(of_batch_id bigint, of_group_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._jobs_left(stopped_at weft.offer, after_job integer, of_pool_id integer, lanes integer[], shares weft.shares, at_most integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._jobs_that_fit(offer weft.offer, budget_cpu_m bigint, budget_memory_mib bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._join_conditions(batch_ids bigint[], job_ids integer[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._judge_ends(batch_ids bigint[], job_ids integer[], attempts smallint[], reported smallint[], exit_codes integer[], signals smallint[], at timestamp with time zone, OUT reasons smallint[], OUT finals boolean[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._keep_for_job(of_incarnation_id integer, of_pool_id integer, of_name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._kept_bytes(stdout_bytes bigint, stderr_bytes bigint, truncated boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._kept_for(r weft.reservation) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._kept_worker(of_batch_id bigint, of_job_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._kept_worker(of_batch_id bigint, of_job_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._key_holders(of_tenant_id integer, of_key text, of_batch_id bigint, of_job_id integer, shown_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._key_holders(of_tenant_id integer, of_key text, of_batch_id bigint, of_job_id integer, shown_max integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._known_workers() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lane_ids(asks jsonb[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._lane_ids(asks jsonb[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._lane_pool(of_lane_id integer, of_pool_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._lane_pool(of_lane_id integer, of_pool_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._lane_room(of_incarnation_id integer, of_lane_id integer, short_lanes integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lane_sections(lanes integer[], ns integer[], OUT firsts integer[], OUT lane_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lanes_with_work(of_pool_id integer, of_user_id integer, lanes integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._last_run(of_batch_id bigint, of_job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._leave_creating(worker weft.worker_incarnation, of_batch_id bigint, of_job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._leave_spot(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._leave_to_sleeper(worker weft.worker_incarnation, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._let_start(of_batch_id bigint, job_ids integer[], limit_ids integer[], attempts smallint[], per_hours numeric[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lift_limits(of_batch_id bigint, within_group integer, requested_at timestamp with time zone, actor text, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._limit_cores(of_tenant_id integer, of_user_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._limit_cores(of_tenant_id integer, of_user_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._limit_documents(of_limit_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._limit_documents(of_limit_ids integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._limit_gate_sets(bunch weft.bunch, jobs weft.job_columns, limited text[], cores jsonb, gate_sets integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._limit_in_s(of_limit weft.spend_limit, used numeric, used_per_hour numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._limit_kind(of_limit weft.spend_limit) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._limit_kind(of_limit weft.spend_limit) TO weft_system;

REVOKE ALL ON FUNCTION weft._limit_name(of_limit weft.spend_limit) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._limit_name(of_limit weft.spend_limit) TO weft_system;

REVOKE ALL ON FUNCTION weft._limit_of(of_batch_id bigint, of_group_id integer, of_job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._limit_queues(of_tenant_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._limit_queues(of_tenant_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._limit_range(asks jsonb, OUT at_least_s integer, OUT at_most_s integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._limit_state(stage text, on_limit text, near boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._limited_groups(of_batch_id bigint, within_group integer, until timestamp with time zone) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.batch TO weft_system;
GRANT SELECT ON TABLE weft.batch TO weft_api;
GRANT SELECT ON TABLE weft.batch TO weft_driver;

REVOKE ALL ON FUNCTION weft._limits_on_batch(of_batch weft.batch, of_user_id integer, after_id integer, limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._list_ready(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._list_ready(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._live_attempts(of_incarnation_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._live_jobs(of_incarnation_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lock_failure_counts(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lock_for_bunch(of_batch_id bigint, jobs weft.job_columns, limited text[], cores jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lock_gates(of_gate_ids integer[], waits boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lock_jobs(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lock_limits(of_tenant_id integer, asked jsonb[], counts boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._lock_limits(of_tenant_id integer, asked jsonb[], counts boolean) TO weft_system;

REVOKE ALL ON FUNCTION weft._lock_parents(of_batch_id bigint, base integer, edge_parents integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lock_project(of_tenant_id integer, of_name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lock_quotas(of_tenant_id integer, of_user_id integer, of_batch_id bigint, only_bytes boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._lock_quotas(of_tenant_id integer, of_user_id integer, of_batch_id bigint, only_bytes boolean) TO weft_system;

REVOKE ALL ON FUNCTION weft._lock_users(of_tenant_id integer, by_user_id integer, by_role text) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lock_waiting(of_batch_id bigint, of_job_ids integer[], of_shape_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lock_worker(of_name text, of_pool text, OUT worker_id integer, OUT state text, OUT incarnation_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._look_at_jobs(of_batch_id bigint, after_job integer, limit_jobs integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lookahead_jobs(of_batch_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._loops_due(grace_s double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._loops_with_work() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lose_incarnation(of_incarnation_id integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._lose_unstopped(at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._machine_costs(one weft.machine, upto timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._machine_jobs(of_pool_id integer, limit_jobs integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._make_visible(of_update weft.batch_update, is_new_batch boolean, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._may_claim(job weft.job, of_batch_id bigint, has_cpu_m bigint, has_memory_mib bigint, has_cancel boolean, has_switch boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._may_open(batch_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._may_open(batch_ids bigint[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._may_open_span(of_batch_id bigint, of_first_job integer, of_last_job integer, n_jobs bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._may_pass(of_batch_id bigint, of_group_id integer, of_job_id integer, always_run boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._may_try(of_incarnation_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._member_groups(tenant_id integer, of_batch_id bigint, n_jobs integer, first_group integer, tree_ids integer[], combo_indexes integer[], combo_numbers integer[], combo_sets integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._members_of(of_project_id integer, members_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._membership_ids(tenant_id integer, of_batch_id bigint, tree_ids integer[], sets text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._membership_ids(tenant_id integer, of_batch_id bigint, tree_ids integer[], sets text[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._merged(attributes jsonb, patch jsonb, attributes_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._monitor_due() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._monitor_of(of_tenant_id integer, of_lane_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._more_asks(rules jsonb, last_steps integer[], asked_sizes jsonb, asked_words jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._more_asks(rules jsonb, last_steps integer[], asked_sizes jsonb, asked_words jsonb) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._more_rules(of_batch_id bigint, of_job_id integer, of_spec_first integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._more_rules(of_batch_id bigint, of_job_id integer, of_spec_first integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._more_steps(rules jsonb, of_batch_id bigint, of_job_id integer, last_attempt integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._more_steps(rules jsonb, of_batch_id bigint, of_job_id integer, last_attempt integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._more_text(old_shape integer, new_shape integer, is_all boolean, stays boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._more_time(rules jsonb, steps integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._more_time(rules jsonb, steps integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._move_cascade(of_batch_id bigint, of_job_id integer, to_child integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._move_members(tenant_id integer, of_batch_id bigint, of_pool_id integer, job_tids tid[], new_groups integer[], old_groups integer[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._move_members(tenant_id integer, of_batch_id bigint, of_pool_id integer, job_tids tid[], new_groups integer[], old_groups integer[], at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._move_ranges(batch_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._move_rows(of_batch_id bigint, of_job_ids integer[], old_shapes integer[], new_shapes integer[], new_lanes integer[], queue_set integer, actor text, OUT sets integer[], OUT pools integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._move_to_core_gates(of_batch_id bigint, of_job_ids integer[], gate_sets integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._moved_gate_set(own integer, of_queue integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._moved_gate_set(own integer, of_queue integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._ms_between(from_at timestamp with time zone, to_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._ms_between(from_at timestamp with time zone, to_at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._needed_permission() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._next_offer(last weft.offer, of_pool_id integer, lanes integer[], shares weft.shares, only_shares boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._next_open_batch(of_tenant_id integer, from_batch_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._next_open_batch(of_tenant_id integer, from_batch_id bigint) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._next_span(of_batch_id bigint, of_group_id integer, after integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._next_wait(of_batch_id bigint, of_job_id integer, of_spec_first integer, of_attempt smallint, of_reason smallint, counted integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._no_condition(of_condition_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._no_schedule(of_schedule_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._no_tenant(of_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._no_tenant(of_name text) TO weft_system;

REVOKE ALL ON FUNCTION weft._no_user(of_name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._note_claim(of_incarnation_id integer, of_pool_id integer, trying boolean, stopped_at weft.offer, taken integer[], n_jobs integer, lanes integer[], shares weft.shares) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._note_condition_batches() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._note_failures(batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[], causes text[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._note_late_ends(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[], recorded bigint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._note_limited() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._note_machines(of_pool_id integer, flavours text[], regions text[], reasons text[], batch_ids bigint[], job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._note_owner() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._offers(i weft.worker_incarnation) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._open_batches(of_tenant_id integer, from_batch_id bigint, limit_batches integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._open_gates(at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._open_neighbours(of_batch_id bigint, of_job_id integer, after_child integer, limit_jobs integer, at timestamp with time zone, OUT n_told integer, OUT last_child integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._open_parents(of_batch_id bigint, of_job_id integer, shown_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._open_ranges(batch_ids bigint[], job_ids integer[], update_ids integer[], lane_ids integer[], opens boolean[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._open_ranges(batch_ids bigint[], job_ids integer[], update_ids integer[], lane_ids integer[], opens boolean[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._open_sets(of_gate_set_ids integer[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._open_transactions() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._open_update(of_batch_id bigint, of_update_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._open_work(of_tenant_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._operation_document(operation weft.operation) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_watch TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_watch TO weft_system;

REVOKE ALL ON FUNCTION weft._overdue(due weft.attempt_watch[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._own_machine(of_batch_id bigint, of_job_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._own_machine(of_batch_id bigint, of_job_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._park_jobs(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._park_jobs(of_batch_id bigint, of_job_ids integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._park_noted(limit_jobs integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._pass_batches(operation weft.operation, down_to bigint, n_changed integer, n_idle bigint, skipped text) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._pass_gates(of_gate_ids integer[], arrivals boolean, waits boolean, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._pass_gates(of_gate_ids integer[], arrivals boolean, waits boolean, limit_jobs integer, at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._past_tries(of_batch_id bigint, of_job_id integer, of_attempt smallint, of_reason smallint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._patched(patch jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._pause_batch(of_batch_id bigint, may_move boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._pause_batch(of_batch_id bigint, may_move boolean) TO weft_system;

REVOKE ALL ON FUNCTION weft._pause_for_limit(of_limit weft.spend_limit, limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._permission(of_batch_id bigint, of_user_id integer, of_project_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._permission(of_batch_id bigint, of_user_id integer, of_project_id integer) TO weft_system;

REVOKE ALL ON FUNCTION weft._permission_document(of_batch_id bigint, of_job_id integer, of_user_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._permission_on_jobs(of_batch_id bigint, of_user_id integer, of_project_id integer, of_job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._permission_word(permission integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._phase_limit(monitor jsonb, of_phase smallint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._phase_word(of_phase smallint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._pick(offer weft.offer, worker weft.worker_incarnation, has_cancel boolean, has_switch boolean, lookahead_jobs integer, limit_jobs integer, hint_job integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._pick_one(offer weft.offer, worker weft.worker_incarnation, has_cancel boolean, has_switch boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._policy_of(of_batch_id bigint, of_job_id integer, of_spec_first integer, of_reason smallint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._pool_demand(of_pool_id integer, limit_jobs integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._pool_facts(of_pool_id integer, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint, of_user_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._pool_facts(of_pool_id integer, of_lane_id integer, needs_cpu_m bigint, needs_memory_mib bigint, of_user_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._pool_machines(of_pool_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._pools_serving(of_tenant_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._preempted_for(of_batch_id bigint, of_job_id integer, of_attempt smallint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._preempted_gate(job weft.job, waiting text, opens_at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._preemption_hosts(of_pool_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._preemption_waiting(of_pool_id integer, queues text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._price_machines(of_pool_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._priced_jobs(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._priced_parts(parts weft.cost_part[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._priced_usage(owners bigint[], rate_card_ids smallint[], shape_ids integer[], usage_ms_list numeric[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._priced_usage(owners bigint[], rate_card_ids smallint[], shape_ids integer[], usage_ms_list numeric[]) TO weft_system;

REVOKE ALL ON FUNCTION weft._prices(of_rate_card_id smallint, of_shape_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._prioritize_job(of_batch_id bigint, of_job_id integer, new_priority smallint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._programs(limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._project_forecasts(of_project_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._project_forecasts(of_project_ids integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._project_of(of_tenant_id integer, of_user_id integer, of_name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._project_usage(of_project_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._project_usage(of_project_ids integer[]) TO weft_system;

REVOKE ALL ON FUNCTION weft._queue_counts(of_tenant_id integer, of_queues text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._queue_counts(of_tenant_id integer, of_queues text[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._queue_priority(job weft.job) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._queue_sets(of_batch_id bigint, limited text[], OUT names text[], OUT sets integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._quota_document(kind text, name text, of_tenant_id integer, of_user_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._quota_document(kind text, name text, of_tenant_id integer, of_user_id integer) TO weft_system;

REVOKE ALL ON FUNCTION weft._quota_owner(of_tenant_id integer, of_user_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._quota_owner(of_tenant_id integer, of_user_id integer) TO weft_system;

REVOKE ALL ON FUNCTION weft._rate_card_at(at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._ready_samples(of_batch_id bigint, of_group_id integer, samples_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._reaper_due(grace_s double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._recent_sums(of_project_ids integer[], since date, until date) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._recent_usage() FROM PUBLIC;
GRANT ALL ON FUNCTION weft._recent_usage() TO weft_system;

REVOKE ALL ON FUNCTION weft._record_callbacks(batch_ids bigint[], group_ids integer[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._record_change(of_batch_id bigint, of_group_id integer, of_kind text, actor text, message text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._record_change(of_batch_id bigint, of_group_id integer, of_kind text, actor text, message text, at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._record_claim(picked weft.picked, offer weft.offer, incarnation_id integer, pool_id integer, rate_card_id smallint, call bigint, with_chunks boolean, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._record_hold(of_batch_id bigint, of_job_ids integer[], of_kind text, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._record_hold(of_batch_id bigint, of_job_ids integer[], of_kind text, actor text, at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._record_job_share(of_batch_id bigint, of_job_id integer, of_kind text, actor text, message text, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._record_limit(of_batch_ids bigint[], of_group_ids integer[], of_limit weft.spend_limit, of_kind text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._record_limit(of_batch_ids bigint[], of_group_ids integer[], of_limit weft.spend_limit, of_kind text, at timestamp with time zone) TO weft_system;

REVOKE ALL ON FUNCTION weft._record_pool_changes(of_pool_id integer, kinds text[], machines text[], reasons text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._record_retry(of_batch_id bigint, of_job_ids integer[], old_states smallint[], of_pool_id integer, actor text, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._record_worker_change(of_worker_id integer, state text, actor text, reason text, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._recount_parents(of_batch_id bigint, of_job_ids integer[], may_open integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._recount_shares() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._recount_usage(since date) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._recount_users() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._recovery_due() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._refuse_return(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._refuse_transition() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._release_jobs(batch_ids bigint[], job_ids integer[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._release_machines() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._release_stopped(limit_jobs integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._remove_condition_batches(of_batch_id bigint, limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._remove_rows(operation weft.operation, limit_rows integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._rename_group(of_batch_id bigint, of_group_id integer, new_name text, groups_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._report_by_attribute(of_tenant_id integer, of_project_ids integer[], attribute text, since date, until date, rows_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._report_owners(of_tenant_id integer, of_project_ids integer[], by text, since date, until date, after bigint, scan_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._report_page(of_tenant_id integer, of_project_ids integer[], by text, since date, until date, after bigint, limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._report_projects(of_tenant_id integer, of_user_id integer, of_project text, by text, projects_max integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._reserve_update(of_batch weft.batch, user_id integer, new_jobs integer, new_groups integer, trace_id text, idempotency_key text, digest bytea, groups_max integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._resubmitted_as(new_batch bigint, of_job integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._resume_for_limit(of_limit weft.spend_limit, limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._retry(of_batch_id bigint, of_job_ids integer[], actor text, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._retry_hint(of_batch_id bigint, of_group_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._retry_wait(policy jsonb, tries bigint, waited_s double precision, draw double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._return_excess(of_gate_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._ring_gates(of_gate_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._ring_gates(of_gate_ids integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._rooms(of_gate_set_ids integer[], locked_gate_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._running_cores(of_tenant_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._running_limits(of_incarnation_id integer, kept weft.reservation) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._save_quota(of_tenant_id integer, of_user_id integer, patch jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._save_quota(of_tenant_id integer, of_user_id integer, patch jsonb) TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.schedule TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.schedule TO weft_system;

REVOKE ALL ON FUNCTION weft._schedule_document(of_schedule weft.schedule) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.schedule_run TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.schedule_run TO weft_system;

REVOKE ALL ON FUNCTION weft._schedule_run_document(of_run weft.schedule_run) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._schedules_due() FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.secret TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.secret TO weft_system;

REVOKE ALL ON FUNCTION weft._secret_document(of_secret weft.secret) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._sees_batch(of_batch_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._sees_batch(of_batch_id bigint) TO weft_system;

REVOKE ALL ON FUNCTION weft._sees_condition(of_condition_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._sees_limit(of_limit weft.spend_limit, of_user_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._sees_operation(operation weft.operation) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._sees_schedule(of_schedule weft.schedule) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._sees_work_on(of_batch_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._serve_lanes(of_incarnation_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._serves(offers jsonb, asks jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._serves_tenant(of_pool weft.pool, of_tenant_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._set_gates(of_gate_set_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._set_gates(of_gate_set_ids integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._set_limit(of weft.spend_limit, patch jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._set_of_more_cores(of_gate_set_id integer, new_cpu_m bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._set_priority(of_batch_id bigint, of_job_ids integer[], new_priority smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._set_priority(of_batch_id bigint, of_job_ids integer[], new_priority smallint) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._set_project_limit(of_tenant_id integer, of_project_id integer, patch jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._sets_at(of_gate_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._sets_of_cores(of_tenant_id integer, of_batch_id bigint, cores jsonb, cpu_ms bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._sets_of_cores(of_tenant_id integer, of_batch_id bigint, cores jsonb, cpu_ms bigint[]) TO weft_system;

REVOKE ALL ON FUNCTION weft._settle_children(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._settle_children(batch_ids bigint[], job_ids integer[], states smallint[], at timestamp with time zone) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._settle_commands(at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._settle_groups(batch_ids bigint[], group_ids integer[], have_grown boolean[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._shape_ids(cpu_ms bigint[], memory_mibs bigint[], storage_mibs bigint[], gpus integer[], countables jsonb[], OUT shape_ids integer[], OUT lane_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._shape_ids(cpu_ms bigint[], memory_mibs bigint[], storage_mibs bigint[], gpus integer[], countables jsonb[], OUT shape_ids integer[], OUT lane_ids integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._shape_pool(of_shape_id integer, of_pool_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._shape_pool(of_shape_id integer, of_pool_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._share(of_tenant_id integer, of_batch_id bigint, of_job_id integer, of_user text, permission integer, actor text, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._short_gates(of_gate_set_id integer, locked_gate_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._show_ranges(of_batch_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._show_set(tenant_id integer, of_batch_id bigint, set_id integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._shown_conditions(after_id bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._shown_conditions(after_id bigint, limit_rows integer) TO weft_system;

REVOKE ALL ON FUNCTION weft._shown_detail(of_kind text, of_detail jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._shown_jobs(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._shown_operation(of_operation_id bigint) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.blocked_job TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.blocked_job TO weft_system;

REVOKE ALL ON FUNCTION weft._shown_waiting(of_condition_id bigint, limit_jobs integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._skip_touched(offer weft.offer, from_job integer, snapshot pg_snapshot) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._spec_bytes(of_update weft.batch_update) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._spending(of_limit_ids integer[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._spending_due() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._state_after_end(reason smallint, has_started boolean, n_lost integer, counted integer, max_attempts integer, retry_on integer, losses_max integer, final boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._stays_by_rule(rules jsonb, steps integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._step_back(of_gate_ids integer[], of_gate_set_ids integer[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._stop_attempts(limit_jobs integer, confirm_s double precision, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._stop_batch(operation weft.operation, limit_rows integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._stop_for_limit(of_limit_id integer, limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._stop_reasons(batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._stored_bytes(of_tenant_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._stored_bytes(of_tenant_id integer) TO weft_system;

REVOKE ALL ON FUNCTION weft._stuck_places(at timestamp with time zone, until timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._sum_machines() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._sweep_cores(limit_jobs integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._sweep_parts(limit_jobs integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._switches(of_batch_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._switches(of_batch_id bigint) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._take_back(of_limit_ids integer[], before timestamp with time zone, limit_jobs integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._take_one(worker weft.worker_incarnation, of_batch_id bigint, of_job_id integer, OUT offer weft.offer, OUT picked weft.picked) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._takes_none_back(of_tenant_id integer, of_shape_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._tell_callers(of_user_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._tell_callers(of_user_id integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._tell_limits(of_gate_ids integer[], limits integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._tell_room(of_incarnation_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._template(plan jsonb, of_flavour text) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.tenant TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.tenant TO weft_system;

REVOKE ALL ON FUNCTION weft._tenant_document(of_tenant weft.tenant) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._tenant_document(of_tenant weft.tenant) TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.token TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.token TO weft_system;

REVOKE ALL ON FUNCTION weft._token_document(of_token weft.token) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._token_document(of_token weft.token) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._token_that_asks(of_user_id integer, by_token bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._token_that_asks(of_user_id integer, by_token bigint) TO weft_tenant;

GRANT SELECT ON TABLE weft.trail_entry TO weft_tenant;
GRANT SELECT,INSERT,DELETE ON TABLE weft.trail_entry TO weft_system;

REVOKE ALL ON FUNCTION weft._trail_digest(before bytea, entry weft.trail_entry) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._trail_page(of_tenant_id integer, of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._trail_page(of_tenant_id integer, of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._tree_groups(of_update weft.batch_update, group_ids integer[], combo_sets integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._turn_creating(of_batch_id bigint, of_job_id integer, begins boolean, message text, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._turn_ranges(of_batch_id bigint, hidden boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._turn_ranges(of_batch_id bigint, hidden boolean) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._unpark(of_batch_id bigint, of_job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._unpark(of_batch_id bigint, of_job_ids integer[]) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._unpark_jobs(of_batch_id bigint, after_job integer, limit_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._unpark_jobs(of_batch_id bigint, after_job integer, limit_jobs integer) TO weft_tenant;

REVOKE ALL ON FUNCTION weft._unstage(of_batch_id bigint, from_job integer, to_job integer, pool_id integer, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._used_per_hour(of_measure text, cpu_m numeric, memory_mib numeric, storage_mib numeric, gpu numeric, of_rate_card_id smallint) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.tenant_user TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.tenant_user TO weft_system;
GRANT SELECT ON TABLE weft.tenant_user TO weft_api;
GRANT SELECT ON TABLE weft.tenant_user TO weft_driver;

REVOKE ALL ON FUNCTION weft._user_document(of_user weft.tenant_user) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._user_lanes(of_pool_id integer, of_user_id integer, limit_lanes integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._user_quotas(of_tenant_id integer, of_user_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._user_quotas(of_tenant_id integer, of_user_id integer) TO weft_system;

REVOKE ALL ON FUNCTION weft._user_to_change(of_tenant_id integer, of_name text, new_role text, may_give text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._verdicts_on_ends(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], reasons smallint[], recorded bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._visible_batches(of_user_id integer, before bigint, limit_rows integer, with_hidden boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._visible_failed_batches(of_user_id integer, upto bigint, are_acknowledged boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._visible_limits(of_user_id integer, after_id integer, limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._visible_named_batches(of_user_id integer, of_name text, before bigint, limit_rows integer, with_hidden boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._visible_operations(of_user_id integer, before bigint, limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._visible_schedules(of_user_id integer, after_id bigint, limit_rows integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._waiting_heads(of_gate_set_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._waiting_jobs(of_gate_set_ids integer[], of_pool_id integer, of_user_id integer, limit_jobs integer, with_paused boolean, at timestamp with time zone, limits integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._waiting_long(of_pool_id integer, lanes integer[], after_s double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._waiting_sets() FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._waits_at(of_batch_id bigint, of_condition_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft._waits_at(of_batch_id bigint, of_condition_id bigint) TO weft_system;

REVOKE ALL ON FUNCTION weft._waits_for_limits(of_batch_id bigint, of_group_id integer, of_job_id integer, always_run boolean, of_limit_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._wake_workers(pool_ids integer[], lane_ids integer[], at_most integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._walled_tenant(of_tenant_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._watch_attempts(of_incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], claiming boolean, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._why_facts(of_batch_id bigint, of_job_ids integer[], at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._with_core_gates(of_tenant_id integer, of_batch_id bigint, of_job_ids integer[], cores jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._worker_documents(of_tenant_id integer, incarnation_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._worker_loads(of_tenant_id integer, incarnation_ids integer[], claimed_max integer, shown_max integer) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.worker TO weft_system;
GRANT SELECT ON TABLE weft.worker TO weft_api;
GRANT SELECT ON TABLE weft.worker TO weft_driver;

REVOKE ALL ON FUNCTION weft._worker_state(w weft.worker, i weft.worker_incarnation) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft._would_pass(of_gate_set_id integer, of_batch_id bigint, of_job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft.acknowledge_commands(incarnation_id integer, command_ids bigint[], attempts smallint[], outcomes text[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.acknowledge_commands(incarnation_id integer, command_ids bigint[], attempts smallint[], outcomes text[], at timestamp with time zone) TO weft_worker;

REVOKE ALL ON FUNCTION weft.acknowledge_failures(tenant_id integer, batch_id bigint, of_cause_id bigint, of_job_ids integer[], note text, actor text, until timestamp with time zone, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.acknowledge_failures(tenant_id integer, batch_id bigint, of_cause_id bigint, of_job_ids integer[], note text, actor text, until timestamp with time zone, limit_jobs integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.act_on_batch(tenant_id integer, epoch bigint, of_operation_id bigint, of_batch_id bigint, of_role text, n_idle bigint, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.act_on_batch(tenant_id integer, epoch bigint, of_operation_id bigint, of_batch_id bigint, of_role text, n_idle bigint, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.add_groups(tenant_id integer, batch_id bigint, update_id integer, group_ids integer[], parent_ids integer[], names text[], attributes jsonb[], cancel_afters integer[], callbacks text[], depth_max integer, are_sets boolean[], at timestamp with time zone, idempotency_key text, digest bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.add_groups(tenant_id integer, batch_id bigint, update_id integer, group_ids integer[], parent_ids integer[], names text[], attributes jsonb[], cancel_afters integer[], callbacks text[], depth_max integer, are_sets boolean[], at timestamp with time zone, idempotency_key text, digest bytea) TO weft_api;

REVOKE ALL ON FUNCTION weft.add_jobs(tenant_id integer, batch_id bigint, update_id integer, first_job integer, n_jobs integer, jobs weft.job_columns, idempotency_key text, digest bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.add_jobs(tenant_id integer, batch_id bigint, update_id integer, first_job integer, n_jobs integer, jobs weft.job_columns, idempotency_key text, digest bytea) TO weft_api;
GRANT ALL ON FUNCTION weft.add_jobs(tenant_id integer, batch_id bigint, update_id integer, first_job integer, n_jobs integer, jobs weft.job_columns, idempotency_key text, digest bytea) TO weft_system;

REVOKE ALL ON FUNCTION weft.add_machines(epoch bigint, of_pool_id integer, flavours text[], regions text[], reasons text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.add_machines(epoch bigint, of_pool_id integer, flavours text[], regions text[], reasons text[]) TO weft_driver;

REVOKE ALL ON FUNCTION weft.add_members(tenant_id integer, batch_id bigint, group_id integer, job_ids integer[], sets_max integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.add_members(tenant_id integer, batch_id bigint, group_id integer, job_ids integer[], sets_max integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.add_own_machines(epoch bigint, of_pool_id integer, flavours text[], regions text[], reasons text[], batch_ids bigint[], job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.add_own_machines(epoch bigint, of_pool_id integer, flavours text[], regions text[], reasons text[], batch_ids bigint[], job_ids integer[]) TO weft_driver;

REVOKE ALL ON FUNCTION weft.add_payload_part(tenant_id integer, batch_id bigint, digest bytea, part integer, n_bytes bigint, body bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.add_payload_part(tenant_id integer, batch_id bigint, digest bytea, part integer, n_bytes bigint, body bytea) TO weft_api;

REVOKE ALL ON FUNCTION weft.add_rates(prices jsonb, new_valid_from timestamp with time zone, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft.add_reservations(epoch bigint, incarnation_ids integer[], batch_ids bigint[], job_ids integer[], fill_seconds double precision[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.add_reservations(epoch bigint, incarnation_ids integer[], batch_ids bigint[], job_ids integer[], fill_seconds double precision[]) TO weft_driver;

REVOKE ALL ON FUNCTION weft.add_resubmitted(epoch bigint, of_operation_id bigint, after_job bigint, upto bigint, job_ids integer[], jobs weft.job_columns, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.add_resubmitted(epoch bigint, of_operation_id bigint, after_job bigint, upto bigint, job_ids integer[], jobs weft.job_columns, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.add_schedule(tenant_id integer, user_id integer, new jsonb, schedules_max integer, idempotency_key text, digest bytea, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.add_schedule(tenant_id integer, user_id integer, new jsonb, schedules_max integer, idempotency_key text, digest bytea, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.add_user(tenant_id integer, by_user_id integer, by_role text, of_name text, of_role text, token_hash bytea, idempotency_key text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.add_user(tenant_id integer, by_user_id integer, by_role text, of_name text, of_role text, token_hash bytea, idempotency_key text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.admit_at_limits(epoch bigint, limit_ids integer[], rooms numeric[], limit_jobs integer, patience interval, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.admit_at_limits(epoch bigint, limit_ids integer[], rooms numeric[], limit_jobs integer, patience interval, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.admit_user(of_tenant text, of_name text, of_role text, may_create boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.admit_user(of_tenant text, of_name text, of_role text, may_create boolean) TO weft_api;

REVOKE ALL ON FUNCTION weft.apply_limits(epoch bigint, limit_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.apply_limits(epoch bigint, limit_jobs integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.ask_block(incarnation_id integer, batch_id bigint, job_id integer, attempt integer, kind text, tester text, parameters jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.ask_block(incarnation_id integer, batch_id bigint, job_id integer, attempt integer, kind text, tester text, parameters jsonb) TO weft_worker;

REVOKE ALL ON FUNCTION weft.authenticate(token_hash bytea, of_kind text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.authenticate(token_hash bytea, of_kind text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.beat_driver(epoch bigint, grace_s double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.beat_driver(epoch bigint, grace_s double precision) TO weft_driver;

REVOKE ALL ON FUNCTION weft.begin_batch_action(tenant_id integer, user_id integer, arguments jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.begin_batch_action(tenant_id integer, user_id integer, arguments jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.begin_ordered_query(tenant_id integer, timeout_ms integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.begin_ordered_query(tenant_id integer, timeout_ms integer) TO weft_api;
GRANT ALL ON FUNCTION weft.begin_ordered_query(tenant_id integer, timeout_ms integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.begin_query(tenant_id integer, batch_id bigint, of_group integer, of_path text, timeout_ms integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.begin_query(tenant_id integer, batch_id bigint, of_group integer, of_path text, timeout_ms integer) TO weft_api;
GRANT ALL ON FUNCTION weft.begin_query(tenant_id integer, batch_id bigint, of_group integer, of_path text, timeout_ms integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.begin_schedule_runs(epoch bigint, schedule_ids bigint[], expected timestamp with time zone[], next_ats timestamp with time zone[], missed_counts bigint[], run_schedule_ids bigint[], run_due_ats timestamp with time zone[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.begin_schedule_runs(epoch bigint, schedule_ids bigint[], expected timestamp with time zone[], next_ats timestamp with time zone[], missed_counts bigint[], run_schedule_ids bigint[], run_due_ats timestamp with time zone[], at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.begin_term() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.begin_term() TO weft_driver;

REVOKE ALL ON FUNCTION weft.begin_visit(by_user_id integer, of_name text, request jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.begin_visit(by_user_id integer, of_name text, request jsonb) TO weft_api;

REVOKE ALL ON FUNCTION weft.billing_report(tenant_id integer, of_user_id integer, of_project text, by text, attribute text, since date, until date, rows_max integer, projects_max integer, after bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.billing_report(tenant_id integer, of_user_id integer, of_project text, by text, attribute text, since date, until date, rows_max integer, projects_max integer, after bigint, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.black_holes(epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.black_holes(epoch bigint) TO weft_driver;

REVOKE ALL ON FUNCTION weft.cancel_group(tenant_id integer, batch_id bigint, group_id integer, actor text, force boolean, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.cancel_group(tenant_id integer, batch_id bigint, group_id integer, actor text, force boolean, at timestamp with time zone) TO weft_api;
GRANT ALL ON FUNCTION weft.cancel_group(tenant_id integer, batch_id bigint, group_id integer, actor text, force boolean, at timestamp with time zone) TO weft_system;

REVOKE ALL ON FUNCTION weft.cancel_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.cancel_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.cancel_operation(tenant_id integer, of_operation_id bigint, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.cancel_operation(tenant_id integer, of_operation_id bigint, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.change_project(tenant_id integer, of_name text, patch jsonb, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.change_project(tenant_id integer, of_name text, patch jsonb, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.change_schedule(tenant_id integer, of_schedule_id bigint, patch jsonb, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.change_schedule(tenant_id integer, of_schedule_id bigint, patch jsonb, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.check_login(login text, OUT user_name text, OUT may_act boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.check_login(login text, OUT user_name text, OUT may_act boolean) TO weft_api;
GRANT ALL ON FUNCTION weft.check_login(login text, OUT user_name text, OUT may_act boolean) TO weft_driver;
GRANT ALL ON FUNCTION weft.check_login(login text, OUT user_name text, OUT may_act boolean) TO weft_worker;

REVOKE ALL ON FUNCTION weft.claim_jobs(incarnation_id integer, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, hint_runnable bigint[], hint_job integer[], call bigint, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.claim_jobs(incarnation_id integer, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, hint_runnable bigint[], hint_job integer[], call bigint, at timestamp with time zone) TO weft_worker;

REVOKE ALL ON FUNCTION weft.claim_reserved(incarnation_id integer, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, call bigint, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.claim_reserved(incarnation_id integer, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, call bigint, at timestamp with time zone) TO weft_worker;

REVOKE ALL ON FUNCTION weft.commit_update(tenant_id integer, batch_id bigint, of_update_id integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.commit_update(tenant_id integer, batch_id bigint, of_update_id integer, at timestamp with time zone) TO weft_api;
GRANT ALL ON FUNCTION weft.commit_update(tenant_id integer, batch_id bigint, of_update_id integer, at timestamp with time zone) TO weft_system;

REVOKE ALL ON FUNCTION weft.complete_and_claim(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[], reasons smallint[], exit_codes integer[], signals smallint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], messages text[], budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, hint_runnable bigint[], hint_job integer[], call bigint, causes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.complete_and_claim(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[], reasons smallint[], exit_codes integer[], signals smallint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], messages text[], budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs integer, hint_runnable bigint[], hint_job integer[], call bigint, causes text[]) TO weft_worker;

REVOKE ALL ON FUNCTION weft.complete_attempts(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[], reasons smallint[], exit_codes integer[], signals smallint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], messages text[], causes text[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.complete_attempts(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[], reasons smallint[], exit_codes integer[], signals smallint[], cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[], segments integer[], offsets bigint[], messages text[], causes text[], at timestamp with time zone) TO weft_worker;

REVOKE ALL ON FUNCTION weft.conditions_due(epoch bigint, busy bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.conditions_due(epoch bigint, busy bigint[]) TO weft_driver;

REVOKE ALL ON FUNCTION weft.configure_term(epoch bigint, settings jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.configure_term(epoch bigint, settings jsonb) TO weft_driver;

REVOKE ALL ON FUNCTION weft.copy_batch(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.copy_batch(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.cordon_worker(of_name text, of_pool text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.cordon_worker(of_name text, of_pool text, actor text, reason text) TO weft_api;

REVOKE ALL ON FUNCTION weft.correct_rates(version integer, prices jsonb, new_valid_from timestamp with time zone, actor text, reason text, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft.count_machines(epoch bigint, machines text[], shares double precision[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.count_machines(epoch bigint, machines text[], shares double precision[]) TO weft_driver;

REVOKE ALL ON FUNCTION weft.count_parent_ends(epoch bigint, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.count_parent_ends(epoch bigint, limit_jobs integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.count_reasons(tenant_id integer, batch_id bigint, of_group_id integer, after integer, limit_attempts integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.count_reasons(tenant_id integer, batch_id bigint, of_group_id integer, after integer, limit_attempts integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.create_batch(tenant_id integer, user_id integer, batch jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.create_batch(tenant_id integer, user_id integer, batch jsonb, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.create_login_code(tenant_id integer, user_id integer, by_token bigint, of_hash bytea, of_scopes text[], valid_s double precision, session_s double precision, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.create_login_code(tenant_id integer, user_id integer, by_token bigint, of_hash bytea, of_scopes text[], valid_s double precision, session_s double precision, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.create_project(tenant_id integer, user_id integer, of_name text, cost_max numeric, idempotency_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.create_project(tenant_id integer, user_id integer, of_name text, cost_max numeric, idempotency_key text) TO weft_api;

REVOKE ALL ON FUNCTION weft.create_query_set(tenant_id integer, user_id integer, batch_id bigint, name text, attributes jsonb, cancel_after integer, callback text, query text, within_group integer, groups_max integer, sets_max integer, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.create_query_set(tenant_id integer, user_id integer, batch_id bigint, name text, attributes jsonb, cancel_after integer, callback text, query text, within_group integer, groups_max integer, sets_max integer, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.create_set(tenant_id integer, batch_id bigint, name text, attributes jsonb, cancel_after integer, callback text, is_hidden boolean, groups_max integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.create_set(tenant_id integer, batch_id bigint, name text, attributes jsonb, cancel_after integer, callback text, is_hidden boolean, groups_max integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.create_tenant(by_user_id integer, of_name text, admin_name text, token_hash bytea, idempotency_key text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.create_tenant(by_user_id integer, of_name text, admin_name text, token_hash bytea, idempotency_key text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.create_token(tenant_id integer, user_id integer, by_token bigint, of_hash bytea, of_name text, of_scopes text[], valid_s double precision, tokens_max integer, idempotency_key text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.create_token(tenant_id integer, user_id integer, by_token bigint, of_hash bytea, of_name text, of_scopes text[], valid_s double precision, tokens_max integer, idempotency_key text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.create_update(tenant_id integer, user_id integer, batch_id bigint, new_jobs integer, new_groups integer, trace_id text, idempotency_key text, digest bytea, groups_max integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.create_update(tenant_id integer, user_id integer, batch_id bigint, new_jobs integer, new_groups integer, trace_id text, idempotency_key text, digest bytea, groups_max integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.database_id() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.database_id() TO weft_worker;

REVOKE ALL ON FUNCTION weft.deadlines_due(epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.deadlines_due(epoch bigint) TO weft_driver;

REVOKE ALL ON FUNCTION weft.delete_batch(tenant_id integer, user_id integer, batch_id bigint, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.delete_batch(tenant_id integer, user_id integer, batch_id bigint, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.delete_project(tenant_id integer, of_name text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.delete_project(tenant_id integer, of_name text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.delete_schedule(tenant_id integer, of_schedule_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.delete_schedule(tenant_id integer, of_schedule_id bigint) TO weft_api;

REVOKE ALL ON FUNCTION weft.drain_queue(tenant_id integer, name text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.drain_queue(tenant_id integer, name text) TO weft_api;

REVOKE ALL ON FUNCTION weft.drain_worker(of_name text, of_pool text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.drain_worker(of_name text, of_pool text, actor text, reason text) TO weft_api;

REVOKE ALL ON FUNCTION weft.due_callbacks(epoch bigint, busy bigint[], limit_all integer, limit_tenant integer, limit_host integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.due_callbacks(epoch bigint, busy bigint[], limit_all integer, limit_tenant integer, limit_host integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.due_conditions(epoch bigint, busy bigint[], limit_rows integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.due_conditions(epoch bigint, busy bigint[], limit_rows integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.due_schedules(epoch bigint, limit_rows integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.due_schedules(epoch bigint, limit_rows integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.edit_group(tenant_id integer, batch_id bigint, group_id integer, patch jsonb, attributes_max integer, groups_max integer, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.edit_group(tenant_id integer, batch_id bigint, group_id integer, patch jsonb, attributes_max integer, groups_max integer, actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.edit_job(tenant_id integer, batch_id bigint, job_id integer, patch jsonb, attributes_max integer, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.edit_job(tenant_id integer, batch_id bigint, job_id integer, patch jsonb, attributes_max integer, actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.end_schedule_run(tenant_id integer, of_schedule_id bigint, due_at timestamp with time zone, by_hand boolean, batch_id bigint, error jsonb, idempotency_key text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.end_schedule_run(tenant_id integer, of_schedule_id bigint, due_at timestamp with time zone, by_hand boolean, batch_id bigint, error jsonb, idempotency_key text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.end_sessions(tenant_id integer, user_id integer, of_session bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.end_sessions(tenant_id integer, user_id integer, of_session bigint) TO weft_api;

REVOKE ALL ON FUNCTION weft.ensure_local_user(tenant text, user_name text, token_hash bytea) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft.events_now() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.events_now() TO weft_api;

REVOKE ALL ON FUNCTION weft.extend_job(tenant_id integer, batch_id bigint, job_id integer, by_ms bigint, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.extend_job(tenant_id integer, batch_id bigint, job_id integer, by_ms bigint, actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.fail_condition(tenant_id integer, of_condition_id bigint, actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.fail_condition(tenant_id integer, of_condition_id bigint, actor text) TO weft_api;

REVOKE ALL ON FUNCTION weft.fail_conditions(epoch bigint, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.fail_conditions(epoch bigint, limit_jobs integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.fail_operation(epoch bigint, of_operation_id bigint, error jsonb, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.fail_operation(epoch bigint, of_operation_id bigint, error jsonb, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.fill_set(epoch bigint, of_operation_id bigint, job_ids integer[], looked_upto bigint, sets_max integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.fill_set(epoch bigint, of_operation_id bigint, job_ids integer[], looked_upto bigint, sets_max integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.find_tenant(of_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.find_tenant(of_name text) TO weft_api;

REVOKE ALL ON FUNCTION weft.finish_drain(incarnation_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.finish_drain(incarnation_id integer) TO weft_worker;

REVOKE ALL ON FUNCTION weft.fold_deltas(epoch bigint, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.fold_deltas(epoch bigint, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.fold_failures(epoch bigint, limit_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.fold_failures(epoch bigint, limit_jobs integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.gates_due(epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.gates_due(epoch bigint) TO weft_driver;

REVOKE ALL ON FUNCTION weft.get_batch(tenant_id integer, batch_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_batch(tenant_id integer, batch_id bigint) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_batches(tenant_id integer, batch_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_batches(tenant_id integer, batch_ids bigint[]) TO weft_api;
GRANT ALL ON FUNCTION weft.get_batches(tenant_id integer, batch_ids bigint[]) TO weft_driver;

REVOKE ALL ON FUNCTION weft.get_bunch(tenant_id integer, of_batch_id bigint, of_update_id integer, first_position integer, n_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_bunch(tenant_id integer, of_batch_id bigint, of_update_id integer, first_position integer, n_jobs integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_chunks(batch_ids bigint[], first_jobs integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_chunks(batch_ids bigint[], first_jobs integer[]) TO weft_worker;
GRANT ALL ON FUNCTION weft.get_chunks(batch_ids bigint[], first_jobs integer[]) TO weft_driver;

REVOKE ALL ON FUNCTION weft.get_condition(tenant_id integer, of_condition_id bigint, limit_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_condition(tenant_id integer, of_condition_id bigint, limit_jobs integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_group(tenant_id integer, batch_id bigint, group_id integer, path text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_group(tenant_id integer, batch_id bigint, group_id integer, path text) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_job(tenant_id integer, batch_id bigint, job_id integer, limit_parents integer, limit_counted integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_job(tenant_id integer, batch_id bigint, job_id integer, limit_parents integer, limit_counted integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_jobs(tenant_id integer, batch_id bigint, job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_jobs(tenant_id integer, batch_id bigint, job_ids integer[]) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_operation(tenant_id integer, of_operation_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_operation(tenant_id integer, of_operation_id bigint) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_payload_part(of_batch_id bigint, of_digest bytea, of_part integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_payload_part(of_batch_id bigint, of_digest bytea, of_part integer) TO weft_worker;

REVOKE ALL ON FUNCTION weft.get_schedule(tenant_id integer, of_schedule_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_schedule(tenant_id integer, of_schedule_id bigint) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_secrets(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], names text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_secrets(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], names text[]) TO weft_worker;

REVOKE ALL ON FUNCTION weft.get_specs(tenant_id integer, of_batch_id bigint, first_jobs integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_specs(tenant_id integer, of_batch_id bigint, first_jobs integer[]) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_system(limit_rows integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_system(limit_rows integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_tenant(tenant_id integer, of_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_tenant(tenant_id integer, of_name text) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_update(tenant_id integer, batch_id bigint, of_update_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_update(tenant_id integer, batch_id bigint, of_update_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.get_worker(tenant_id integer, pools_of_tenant_id integer, of_name text, of_pool text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.get_worker(tenant_id integer, pools_of_tenant_id integer, of_name text, of_pool text) TO weft_api;

REVOKE ALL ON FUNCTION weft.granted_batches() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.granted_batches() TO weft_api;
GRANT ALL ON FUNCTION weft.granted_batches() TO weft_driver;

REVOKE ALL ON FUNCTION weft.group_history(tenant_id integer, batch_id bigint, group_id integer, before bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.group_history(tenant_id integer, batch_id bigint, group_id integer, before bigint, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.heartbeat(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], draining boolean, claiming boolean, heard bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.heartbeat(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], draining boolean, claiming boolean, heard bigint[]) TO weft_worker;

REVOKE ALL ON FUNCTION weft.hide_batch(tenant_id integer, batch_id bigint, hidden boolean, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.hide_batch(tenant_id integer, batch_id bigint, hidden boolean, actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.hold_group(tenant_id integer, batch_id bigint, group_id integer, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.hold_group(tenant_id integer, batch_id bigint, group_id integer, actor text, at timestamp with time zone) TO weft_api;
GRANT ALL ON FUNCTION weft.hold_group(tenant_id integer, batch_id bigint, group_id integer, actor text, at timestamp with time zone) TO weft_system;

REVOKE ALL ON FUNCTION weft.hold_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.hold_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.home_tenant() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.home_tenant() TO weft_worker;

REVOKE ALL ON FUNCTION weft.idle_driver(epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.idle_driver(epoch bigint) TO weft_driver;

REVOKE ALL ON FUNCTION weft.job_history(tenant_id integer, batch_id bigint, job_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.job_history(tenant_id integer, batch_id bigint, job_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.judge_limit(epoch bigint, limit_id integer, version integer, stage text, near boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.judge_limit(epoch bigint, limit_id integer, version integer, stage text, near boolean) TO weft_driver;

REVOKE ALL ON FUNCTION weft.last_group_of_update(tenant_id integer, of_batch_id bigint, of_update_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.last_group_of_update(tenant_id integer, of_batch_id bigint, of_update_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.leave(incarnation_id integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.leave(incarnation_id integer, at timestamp with time zone) TO weft_worker;

REVOKE ALL ON FUNCTION weft.licence_limits() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.licence_limits() TO weft_api;

REVOKE ALL ON FUNCTION weft.limit_rounds(epoch bigint, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.limit_rounds(epoch bigint, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.list_allowed(tenant_id integer, batch_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_allowed(tenant_id integer, batch_ids bigint[]) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_attempts(tenant_id integer, batch_id bigint, job_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_attempts(tenant_id integer, batch_id bigint, job_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_batch_keys(tenant_id integer, batch_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_batch_keys(tenant_id integer, batch_ids bigint[]) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_batches(tenant_id integer, before bigint, limit_rows integer, of_name text, with_hidden boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_batches(tenant_id integer, before bigint, limit_rows integer, of_name text, with_hidden boolean) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_callbacks(tenant_id integer, batch_id bigint, after bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_callbacks(tenant_id integer, batch_id bigint, after bigint, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_causes(tenant_id integer, batch_id bigint, show_all boolean, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_causes(tenant_id integer, batch_id bigint, show_all boolean, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_child_groups(tenant_id integer, batch_id bigint, of_group_id integer, after integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_child_groups(tenant_id integer, batch_id bigint, of_group_id integer, after integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_children(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_children(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_commands(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], at timestamp with time zone, OUT asks_again boolean, OUT command_ids bigint[], OUT of_batch_ids bigint[], OUT of_job_ids integer[], OUT of_attempts smallint[], OUT signals smallint[], OUT extensions_ms bigint[], OUT messages text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_commands(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], at timestamp with time zone, OUT asks_again boolean, OUT command_ids bigint[], OUT of_batch_ids bigint[], OUT of_job_ids integer[], OUT of_attempts smallint[], OUT signals smallint[], OUT extensions_ms bigint[], OUT messages text[]) TO weft_worker;

REVOKE ALL ON FUNCTION weft.list_conditions(tenant_id integer, after_id bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_conditions(tenant_id integer, after_id bigint, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_dead_letters(tenant_id integer, of_batch_id bigint, of_cause_id bigint, of_reason smallint, of_acknowledged boolean, after_batch bigint, after_cause bigint, after_job integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_dead_letters(tenant_id integer, of_batch_id bigint, of_cause_id bigint, of_reason smallint, of_acknowledged boolean, after_batch bigint, after_cause bigint, after_job integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_edges(tenant_id integer, batch_id bigint, job_ids integer[], limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_edges(tenant_id integer, batch_id bigint, job_ids integer[], limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_ended_jobs(batch_ids bigint[], job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_ended_jobs(batch_ids bigint[], job_ids integer[]) TO weft_worker;

REVOKE ALL ON FUNCTION weft.list_events(tenant_id integer, after_xid bigint, after_event bigint, of_batch_id bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_events(tenant_id integer, after_xid bigint, after_event bigint, of_batch_id bigint, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_group_edges(tenant_id integer, batch_id bigint, of_group_id integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_group_edges(tenant_id integer, batch_id bigint, of_group_id integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_groups(tenant_id integer, batch_id bigint, after integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_groups(tenant_id integer, batch_id bigint, after integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_job_entries(tenant_id integer, batch_id bigint, after integer, limit_rows integer, of_job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_job_entries(tenant_id integer, batch_id bigint, after integer, limit_rows integer, of_job_ids integer[]) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_job_permissions(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_job_permissions(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_job_users(batch_ids bigint[], job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_job_users(batch_ids bigint[], job_ids integer[]) TO weft_worker;

REVOKE ALL ON FUNCTION weft.list_jobs(tenant_id integer, batch_id bigint, after integer, limit_rows integer, states smallint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_jobs(tenant_id integer, batch_id bigint, after integer, limit_rows integer, states smallint[]) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_licences() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_licences() TO weft_api;

REVOKE ALL ON FUNCTION weft.list_limits(tenant_id integer, of_user_id integer, of_batch_id bigint, after integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_limits(tenant_id integer, of_user_id integer, of_batch_id bigint, after integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_live(incarnation_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_live(incarnation_id integer) TO weft_worker;

REVOKE ALL ON FUNCTION weft.list_machines(pools_of_tenant_id integer, of_pool text, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_machines(pools_of_tenant_id integer, of_pool text, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_minutes(tenant_id integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_minutes(tenant_id integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_open_batches(tenant_id integer, of_user_id integer, after bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_open_batches(tenant_id integer, of_user_id integer, after bigint, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_operations(tenant_id integer, before bigint, limit_rows integer, of_batch_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_operations(tenant_id integer, before bigint, limit_rows integer, of_batch_id bigint) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_parent_groups(tenant_id integer, batch_id bigint, group_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_parent_groups(tenant_id integer, batch_id bigint, group_ids integer[]) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_parents(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_parents(tenant_id integer, batch_id bigint, job_id integer, after integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_permissions(tenant_id integer, batch_id bigint, after integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_permissions(tenant_id integer, batch_id bigint, after integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_pool_changes(pools_of_tenant_id integer, of_pool text, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_pool_changes(pools_of_tenant_id integer, of_pool text, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_pool_costs(pools_of_tenant_id integer, of_pool text, limit_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_pool_costs(pools_of_tenant_id integer, of_pool text, limit_days integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_pools(of_tenant_id integer, of_name text, after_name text, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_pools(of_tenant_id integer, of_name text, after_name text, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_project_days(tenant_id integer, of_user_id integer, of_name text, before date, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_project_days(tenant_id integer, of_user_id integer, of_name text, before date, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_projects(tenant_id integer, of_user_id integer, of_name text, of_names text[], after_name text, limit_rows integer, members_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_projects(tenant_id integer, of_user_id integer, of_name text, of_names text[], after_name text, limit_rows integer, members_max integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_queues(tenant_id integer, with_counts boolean, below integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_queues(tenant_id integer, with_counts boolean, below integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_quotas(tenant_id integer, of_user_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_quotas(tenant_id integer, of_user_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_rates() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_rates() TO weft_api;

REVOKE ALL ON FUNCTION weft.list_removed(batch_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_removed(batch_ids bigint[]) TO weft_worker;

REVOKE ALL ON FUNCTION weft.list_resubmitted(epoch bigint, of_operation_id bigint, after_job bigint, limit_rows integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_resubmitted(epoch bigint, of_operation_id bigint, after_job bigint, limit_rows integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.list_saved_queries(tenant_id integer, user_id integer, of_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_saved_queries(tenant_id integer, user_id integer, of_name text) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_schedules(tenant_id integer, after bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_schedules(tenant_id integer, after bigint, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_secrets(tenant_id integer, user_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_secrets(tenant_id integer, user_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_sessions(tenant_id integer, user_id integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_sessions(tenant_id integer, user_id integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_sets(tenant_id integer, batch_id bigint, after text, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_sets(tenant_id integer, batch_id bigint, after text, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_shared_jobs(tenant_id integer, of_user_id integer, before_batch bigint, before_job integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_shared_jobs(tenant_id integer, of_user_id integer, before_batch bigint, before_job integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_shares(tenant_id integer, of_pool text, of_user_id integer, after_load double precision, after_user integer, limit_rows integer, own_tenant boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_shares(tenant_id integer, of_pool text, of_user_id integer, after_load double precision, after_user integer, limit_rows integer, own_tenant boolean) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_stale_secrets(by_user_id integer, key_id bytea, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_stale_secrets(by_user_id integer, key_id bytea, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_tenants(after integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_tenants(after integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_time_limits(batch_ids bigint[], job_ids integer[], attempts smallint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_time_limits(batch_ids bigint[], job_ids integer[], attempts smallint[]) TO weft_worker;

REVOKE ALL ON FUNCTION weft.list_to_stop(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_to_stop(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[]) TO weft_worker;

REVOKE ALL ON FUNCTION weft.list_tokens(tenant_id integer, user_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_tokens(tenant_id integer, user_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_trail(tenant_id integer, of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_trail(tenant_id integer, of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_users(tenant_id integer, after integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_users(tenant_id integer, after integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_waiting(tenant_id integer, after_batch bigint, after_job integer, limit_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_waiting(tenant_id integer, after_batch bigint, after_job integer, limit_jobs integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_whole_trail(of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_whole_trail(of_user text, of_action text, of_batch_id bigint, of_number bigint, since timestamp with time zone, before bigint, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.list_workers(tenant_id integer, pools_of_tenant_id integer, with_deleted boolean, after_name text, after_pool text, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.list_workers(tenant_id integer, pools_of_tenant_id integer, with_deleted boolean, after_name text, after_pool text, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.live_jobs(of_batch_id bigint, first_job bigint, last_job bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.live_jobs(of_batch_id bigint, first_job bigint, last_job bigint) TO weft_api;
GRANT ALL ON FUNCTION weft.live_jobs(of_batch_id bigint, first_job bigint, last_job bigint) TO weft_driver;

REVOKE ALL ON FUNCTION weft.log_places(tenant_id integer, of_batch_id bigint, job_ids integer[], of_attempt smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.log_places(tenant_id integer, of_batch_id bigint, job_ids integer[], of_attempt smallint) TO weft_api;

REVOKE ALL ON FUNCTION weft.login_owner(of_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.login_owner(of_hash bytea) TO weft_api;

REVOKE ALL ON FUNCTION weft.lose_workers(epoch bigint, grace_s double precision, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.lose_workers(epoch bigint, grace_s double precision, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.may_see(of_batch_id bigint, of_user_id integer, of_project_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.may_see(of_batch_id bigint, of_user_id integer, of_project_id integer) TO weft_api;
GRANT ALL ON FUNCTION weft.may_see(of_batch_id bigint, of_user_id integer, of_project_id integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.member_projects() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.member_projects() TO weft_api;
GRANT ALL ON FUNCTION weft.member_projects() TO weft_driver;

REVOKE ALL ON FUNCTION weft.message_job(tenant_id integer, batch_id bigint, job_id integer, message text, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.message_job(tenant_id integer, batch_id bigint, job_id integer, message text, actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.missing_payloads(tenant_id integer, of_batch_id bigint, digests bytea[], part_bytes integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.missing_payloads(tenant_id integer, of_batch_id bigint, digests bytea[], part_bytes integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.missing_tenants(names text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft.move_black_hole(epoch bigint, of_worker_id integer, decision text, reason text, retry_s double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.move_black_hole(epoch bigint, of_worker_id integer, decision text, reason text, retry_s double precision) TO weft_driver;

REVOKE ALL ON FUNCTION weft.move_jobs(tenant_id integer, batch_id bigint, job_ids integer[], asked jsonb, actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.move_jobs(tenant_id integer, batch_id bigint, job_ids integer[], asked jsonb, actor text) TO weft_api;

REVOKE ALL ON FUNCTION weft.move_machine(epoch bigint, machine text, decision text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.move_machine(epoch bigint, machine text, decision text, reason text) TO weft_driver;

REVOKE ALL ON FUNCTION weft.next_callback(epoch bigint, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.next_callback(epoch bigint, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.next_due(epoch bigint, grace_s double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.next_due(epoch bigint, grace_s double precision) TO weft_driver;

REVOKE ALL ON FUNCTION weft.next_schedule_run() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.next_schedule_run() TO weft_api;

REVOKE ALL ON FUNCTION weft.open_issuer_session(tenant_id integer, user_id integer, session_hash bytea, of_login text, of_name text, opened_from text, valid_s double precision, sessions_max integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.open_issuer_session(tenant_id integer, user_id integer, session_hash bytea, of_login text, of_name text, opened_from text, valid_s double precision, sessions_max integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.open_session(code_hash bytea, session_hash bytea, of_name text, opened_from text, valid_s double precision, sessions_max integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.open_session(code_hash bytea, session_hash bytea, of_name text, opened_from text, valid_s double precision, sessions_max integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.operation_caller(epoch bigint, of_operation_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.operation_caller(epoch bigint, of_operation_id bigint) TO weft_driver;

REVOKE ALL ON FUNCTION weft.overview(tenant_id integer, pools_of_tenant_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.overview(tenant_id integer, pools_of_tenant_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.overview_counts(tenant_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.overview_counts(tenant_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.pass_batches(epoch bigint, of_operation_id bigint, down_to bigint, n_idle bigint, skipped text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.pass_batches(epoch bigint, of_operation_id bigint, down_to bigint, n_idle bigint, skipped text, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.pass_gates(epoch bigint, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.pass_gates(epoch bigint, limit_jobs integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.patrol(epoch bigint, from_tenant integer, from_batch bigint, after_job integer, limit_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.patrol(epoch bigint, from_tenant integer, from_batch bigint, after_job integer, limit_jobs integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.pool_offers() FROM PUBLIC;
GRANT ALL ON FUNCTION weft.pool_offers() TO weft_api;

REVOKE ALL ON FUNCTION weft.pool_rounds(epoch bigint, limit_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.pool_rounds(epoch bigint, limit_jobs integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.postpone_conditions(epoch bigint, condition_ids bigint[], limit_jobs integer, due_s double precision, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.postpone_conditions(epoch bigint, condition_ids bigint[], limit_jobs integer, due_s double precision, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.preempt_jobs(epoch bigint, waiting_batch_id bigint, waiting_job_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], wait_s double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.preempt_jobs(epoch bigint, waiting_batch_id bigint, waiting_job_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], wait_s double precision) TO weft_driver;

REVOKE ALL ON FUNCTION weft.preemption_rounds(epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.preemption_rounds(epoch bigint) TO weft_driver;

REVOKE ALL ON FUNCTION weft.prioritize_group(tenant_id integer, user_id integer, batch_id bigint, group_id integer, patch jsonb, attributes_max integer, groups_max integer, actor text, trace_id text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.prioritize_group(tenant_id integer, user_id integer, batch_id bigint, group_id integer, patch jsonb, attributes_max integer, groups_max integer, actor text, trace_id text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.recent_ends(epoch bigint, window_s double precision, fast_s double precision, limit_events integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.recent_ends(epoch bigint, window_s double precision, fast_s double precision, limit_events integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.reconcile_machines(epoch bigint, of_provider text, names text[], asked_s double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.reconcile_machines(epoch bigint, of_provider text, names text[], asked_s double precision) TO weft_driver;

REVOKE ALL ON FUNCTION weft.record_audit(took_ms bigint, version text, n_checks integer, wrong jsonb, at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft.record_deliveries(epoch bigint, delivery_ids bigint[], delivered_list boolean[], statuses integer[], errors text[], retries_in_s double precision[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.record_deliveries(epoch bigint, delivery_ids bigint[], delivered_list boolean[], statuses integer[], errors text[], retries_in_s double precision[], at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.record_machine(epoch bigint, machine text, kind text, provider_id text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.record_machine(epoch bigint, machine text, kind text, provider_id text, reason text) TO weft_driver;

REVOKE ALL ON FUNCTION weft.record_phases(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], phases smallint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.record_phases(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], phases smallint[]) TO weft_worker;

REVOKE ALL ON FUNCTION weft.record_request(request jsonb, n_rows bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.record_request(request jsonb, n_rows bigint) TO weft_api;

REVOKE ALL ON FUNCTION weft.record_tests(epoch bigint, condition_ids bigint[], have_passed boolean[], messages text[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.record_tests(epoch bigint, condition_ids bigint[], have_passed boolean[], messages text[], at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.recovery_due(epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.recovery_due(epoch bigint) TO weft_driver;

REVOKE ALL ON FUNCTION weft.redeliver_callback(tenant_id integer, batch_id bigint, of_delivery_id bigint, of_name uuid, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.redeliver_callback(tenant_id integer, batch_id bigint, of_delivery_id bigint, of_name uuid, actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.register_worker(name text, host text, pool text, incarnation text, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, offers jsonb, version text, proved_gone boolean, grace_s double precision, log_place text, log_directory text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.register_worker(name text, host text, pool text, incarnation text, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu integer, offers jsonb, version text, proved_gone boolean, grace_s double precision, log_place text, log_directory text, at timestamp with time zone) TO weft_worker;

REVOKE ALL ON FUNCTION weft.release_blocked(epoch bigint, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.release_blocked(epoch bigint, limit_jobs integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.release_condition(tenant_id integer, of_condition_id bigint, n_more integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.release_condition(tenant_id integer, of_condition_id bigint, n_more integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.release_conditions(epoch bigint, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.release_conditions(epoch bigint, limit_jobs integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.release_group(tenant_id integer, batch_id bigint, group_id integer, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.release_group(tenant_id integer, batch_id bigint, group_id integer, actor text, at timestamp with time zone) TO weft_api;
GRANT ALL ON FUNCTION weft.release_group(tenant_id integer, batch_id bigint, group_id integer, actor text, at timestamp with time zone) TO weft_system;

REVOKE ALL ON FUNCTION weft.release_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.release_jobs(tenant_id integer, batch_id bigint, job_ids integer[], actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.remove_batch(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.remove_batch(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.remove_licence(of_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.remove_licence(of_name text) TO weft_api;

REVOKE ALL ON FUNCTION weft.remove_old(epoch bigint, events_keep_s double precision, updates_keep_s double precision, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.remove_old(epoch bigint, events_keep_s double precision, updates_keep_s double precision, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.remove_saved_query(tenant_id integer, user_id integer, of_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.remove_saved_query(tenant_id integer, user_id integer, of_name text) TO weft_api;

REVOKE ALL ON FUNCTION weft.remove_secret(tenant_id integer, user_id integer, of_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.remove_secret(tenant_id integer, user_id integer, of_name text) TO weft_api;

REVOKE ALL ON FUNCTION weft.remove_user(tenant_id integer, by_user_id integer, by_role text, of_name text, may_give text[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.remove_user(tenant_id integer, by_user_id integer, by_role text, of_name text, may_give text[], at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.reseal_secrets(by_user_id integer, user_ids integer[], names text[], former bytea[], bodies bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.reseal_secrets(by_user_id integer, user_ids integer[], names text[], former bytea[], bodies bytea[]) TO weft_api;

REVOKE ALL ON FUNCTION weft.reserve_rounds(epoch bigint, after_s double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.reserve_rounds(epoch bigint, after_s double precision) TO weft_driver;

REVOKE ALL ON FUNCTION weft.resubmit_batch(tenant_id integer, user_id integer, batch_id bigint, failed boolean, changes jsonb, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.resubmit_batch(tenant_id integer, user_id integer, batch_id bigint, failed boolean, changes jsonb, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.retry_failed(epoch bigint, of_operation_id bigint, matching integer[], looked_upto bigint, limit_rows integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.retry_failed(epoch bigint, of_operation_id bigint, matching integer[], looked_upto bigint, limit_rows integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.retry_jobs(tenant_id integer, user_id integer, batch_id bigint, job_ids integer[], query text, within_group integer, cause_id bigint, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.retry_jobs(tenant_id integer, user_id integer, batch_id bigint, job_ids integer[], query text, within_group integer, cause_id bigint, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) TO weft_api;
GRANT ALL ON FUNCTION weft.retry_jobs(tenant_id integer, user_id integer, batch_id bigint, job_ids integer[], query text, within_group integer, cause_id bigint, actor text, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) TO weft_system;

REVOKE ALL ON FUNCTION weft.revoke_token(tenant_id integer, user_id integer, of_token_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.revoke_token(tenant_id integer, user_id integer, of_token_id bigint) TO weft_api;

REVOKE ALL ON FUNCTION weft.running_operations(epoch bigint, above_id bigint, limit_operations integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.running_operations(epoch bigint, above_id bigint, limit_operations integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.sample_attempts(tenant_id integer, batch_id bigint, limit_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.sample_attempts(tenant_id integer, batch_id bigint, limit_jobs integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.save_pools(pools jsonb, actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.save_pools(pools jsonb, actor text) TO weft_api;

REVOKE ALL ON FUNCTION weft.save_query(tenant_id integer, user_id integer, of_name text, of_query text, queries_max integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.save_query(tenant_id integer, user_id integer, of_name text, of_query text, queries_max integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.save_queues(tenant_id integer, queues jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.save_queues(tenant_id integer, queues jsonb) TO weft_api;

REVOKE ALL ON FUNCTION weft.schedules_due(epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.schedules_due(epoch bigint) TO weft_driver;

REVOKE ALL ON FUNCTION weft.schema_range(OUT schema integer, OUT oldest_program integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.schema_range(OUT schema integer, OUT oldest_program integer) TO weft_api;
GRANT ALL ON FUNCTION weft.schema_range(OUT schema integer, OUT oldest_program integer) TO weft_driver;
GRANT ALL ON FUNCTION weft.schema_range(OUT schema integer, OUT oldest_program integer) TO weft_worker;

REVOKE ALL ON FUNCTION weft.seal_trail(epoch bigint, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.seal_trail(epoch bigint, limit_jobs integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.sees_batch(tenant_id integer, batch_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.sees_batch(tenant_id integer, batch_id bigint) TO weft_api;

REVOKE ALL ON FUNCTION weft.set_licence(of_name text, count integer, actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.set_licence(of_name text, count integer, actor text) TO weft_api;

REVOKE ALL ON FUNCTION weft.set_limit(tenant_id integer, kind text, of_name text, of_batch_id bigint, group_id integer, path text, measure text, patch jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.set_limit(tenant_id integer, kind text, of_name text, of_batch_id bigint, group_id integer, path text, measure text, patch jsonb) TO weft_api;

REVOKE ALL ON FUNCTION weft.set_machine_prices(prices jsonb, actor text) FROM PUBLIC;

REVOKE ALL ON FUNCTION weft.set_priorities(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.set_priorities(epoch bigint, of_operation_id bigint, limit_rows integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.set_project_member(tenant_id integer, of_name text, of_user text, is_member boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.set_project_member(tenant_id integer, of_name text, of_user text, is_member boolean) TO weft_api;

REVOKE ALL ON FUNCTION weft.set_quota(tenant_id integer, of_name text, patch jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.set_quota(tenant_id integer, of_name text, patch jsonb) TO weft_api;

REVOKE ALL ON FUNCTION weft.set_secret(tenant_id integer, user_id integer, of_name text, of_body bytea, secrets_max integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.set_secret(tenant_id integer, user_id integer, of_name text, of_body bytea, secrets_max integer, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.set_tenant(tenant_id integer, of_name text, patch jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.set_tenant(tenant_id integer, of_name text, patch jsonb) TO weft_api;

REVOKE ALL ON FUNCTION weft.set_tenant_quota(of_name text, patch jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.set_tenant_quota(of_name text, patch jsonb) TO weft_api;

REVOKE ALL ON FUNCTION weft.set_user_role(tenant_id integer, by_user_id integer, by_role text, of_name text, new_role text, may_give text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.set_user_role(tenant_id integer, by_user_id integer, by_role text, of_name text, new_role text, may_give text[]) TO weft_api;

REVOKE ALL ON FUNCTION weft.settle_children(epoch bigint, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.settle_children(epoch bigint, limit_jobs integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.share_batch(tenant_id integer, batch_id bigint, of_user text, permission integer, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.share_batch(tenant_id integer, batch_id bigint, of_user text, permission integer, actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.share_job(tenant_id integer, batch_id bigint, job_id integer, of_user text, permission integer, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.share_job(tenant_id integer, batch_id bigint, job_id integer, of_user text, permission integer, actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.signal_job(tenant_id integer, batch_id bigint, job_id integer, signal integer, word text, actor text, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.signal_job(tenant_id integer, batch_id bigint, job_id integer, signal integer, word text, actor text, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.start_attempts(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], ages_us bigint[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.start_attempts(incarnation_id integer, batch_ids bigint[], job_ids integer[], attempts smallint[], ages_us bigint[], at timestamp with time zone) TO weft_worker;

REVOKE ALL ON FUNCTION weft.stop_overdue(epoch bigint, limit_jobs integer, confirm_s double precision, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.stop_overdue(epoch bigint, limit_jobs integer, confirm_s double precision, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.stop_work(tenant_id integer, of_user_id integer, error jsonb, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.stop_work(tenant_id integer, of_user_id integer, error jsonb, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.submit(tenant_id integer, user_id integer, of_batch_id bigint, batch jsonb, groups weft.group_columns, new_jobs integer, jobs weft.job_columns, depth_max integer, groups_max integer, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.submit(tenant_id integer, user_id integer, of_batch_id bigint, batch jsonb, groups weft.group_columns, new_jobs integer, jobs weft.job_columns, depth_max integer, groups_max integer, trace_id text, idempotency_key text, digest bytea, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.sum_workers(pools_of_tenant_id integer, limit_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.sum_workers(pools_of_tenant_id integer, limit_rows integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.sweep_cancelled(epoch bigint, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.sweep_cancelled(epoch bigint, limit_jobs integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.sweep_deadlines(epoch bigint, limit_jobs integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.sweep_deadlines(epoch bigint, limit_jobs integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.sweep_holds(epoch bigint, limit_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.sweep_holds(epoch bigint, limit_jobs integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.take_schedule_runs(limit_rows integer, lease_s double precision, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.take_schedule_runs(limit_rows integer, lease_s double precision, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.tenant_name(tenant_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.tenant_name(tenant_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.test_condition(tenant_id integer, of_condition_id bigint, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.test_condition(tenant_id integer, of_condition_id bigint, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.test_pool(epoch bigint, of_condition_id bigint, of_pool text, free_cpu_m bigint, OUT passed boolean, OUT message text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.test_pool(epoch bigint, of_condition_id bigint, of_pool text, free_cpu_m bigint, OUT passed boolean, OUT message text) TO weft_driver;

REVOKE ALL ON FUNCTION weft.trim_trail(epoch bigint, keep_s double precision, limit_rows integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.trim_trail(epoch bigint, keep_s double precision, limit_rows integer, at timestamp with time zone) TO weft_driver;

REVOKE ALL ON FUNCTION weft.uncordon_worker(of_name text, of_pool text, actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.uncordon_worker(of_name text, of_pool text, actor text) TO weft_api;

REVOKE ALL ON FUNCTION weft.wait_for_events(listener_id uuid, waits boolean, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.wait_for_events(listener_id uuid, waits boolean, at timestamp with time zone) TO weft_api;

REVOKE ALL ON FUNCTION weft.wait_for_work(incarnation_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.wait_for_work(incarnation_id integer) TO weft_worker;

REVOKE ALL ON FUNCTION weft.was_project(tenant_id integer, of_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.was_project(tenant_id integer, of_name text) TO weft_api;

REVOKE ALL ON FUNCTION weft.weigh_users(epoch bigint, limit_jobs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.weigh_users(epoch bigint, limit_jobs integer) TO weft_driver;

REVOKE ALL ON FUNCTION weft.why_group(tenant_id integer, batch_id bigint, group_id integer, path text) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.why_group(tenant_id integer, batch_id bigint, group_id integer, path text) TO weft_api;

REVOKE ALL ON FUNCTION weft.why_job(tenant_id integer, batch_id bigint, job_id integer) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.why_job(tenant_id integer, batch_id bigint, job_id integer) TO weft_api;

REVOKE ALL ON FUNCTION weft.why_jobs(tenant_id integer, batch_id bigint, job_ids integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION weft.why_jobs(tenant_id integer, batch_id bigint, job_ids integer[]) TO weft_api;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.admission TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.admission TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt TO weft_system;
GRANT SELECT ON TABLE weft.attempt TO weft_api;
GRANT SELECT ON TABLE weft.attempt TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_reason TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.attempt_reason TO weft_system;

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

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.gate TO weft_system;

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

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_group TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_group TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_hold TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_hold TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_label TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_label TO weft_system;
GRANT SELECT ON TABLE weft.job_label TO weft_api;
GRANT SELECT ON TABLE weft.job_label TO weft_driver;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_spec TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_spec TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_state TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.job_state TO weft_system;

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

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.project_usage TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.project_usage TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.queue TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.queue TO weft_system;
GRANT SELECT ON TABLE weft.queue TO weft_api;
GRANT SELECT ON TABLE weft.queue TO weft_driver;

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

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.shape TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.shape TO weft_system;
GRANT SELECT ON TABLE weft.shape TO weft_api;
GRANT SELECT ON TABLE weft.shape TO weft_driver;

GRANT USAGE ON SEQUENCE weft.shape_shape_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.shape_shape_id_seq TO weft_system;

GRANT USAGE ON SEQUENCE weft.spend_limit_limit_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.spend_limit_limit_id_seq TO weft_system;

GRANT USAGE ON SEQUENCE weft.tenant_tenant_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.tenant_tenant_id_seq TO weft_system;

GRANT USAGE ON SEQUENCE weft.tenant_user_user_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.tenant_user_user_id_seq TO weft_system;

GRANT USAGE ON SEQUENCE weft.token_token_id_seq TO weft_tenant;
GRANT USAGE ON SEQUENCE weft.token_token_id_seq TO weft_system;

GRANT SELECT,UPDATE ON TABLE weft.trail_head TO weft_system;

GRANT SELECT ON TABLE weft.trail_unsealed TO weft_tenant;
GRANT SELECT,INSERT,DELETE ON TABLE weft.trail_unsealed TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.usage_sum TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.usage_sum TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_batch_count TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_batch_count TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_count TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_count TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_minute TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_minute TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_share TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_share TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_storage TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_storage TO weft_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_usage TO weft_tenant;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE weft.user_usage TO weft_system;

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
