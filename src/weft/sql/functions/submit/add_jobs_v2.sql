-- add_jobs_v2: add a bunch of jobs to an open update. They stay invisible until the commit.
-- Called by: Store.add_jobs, Store.submit (api); add_resubmitted.
-- Safe to repeat: yes, by (update, first job); then it returns false, or NULL if the existing bunch came from another body.
-- Locks: as _lock_limits; batch_row (with gates of jobs, or edges); batch (shared, only with parents in earlier updates);
--   as _open_update; as _shape_ids; as _lock_parents; membership (new); as _job_gate_sets; as _queue_gate_sets.
-- Plan: inserts; parents by key.
-- Columns: one element stands for all jobs. Numbers: jobs, parents and groups are relative to the update, from 1; a negative parent or
--   group is the number of an existing job or group; group 0 is the root. Sets: combo_numbers and combo_sets are pairs (combination, one of
--   its sets); combo_indexes is each job's combination, 0 for none. Rare fields: pairs of a job, or the first job of an array, and an
--   object. Of them the database reads `gates` (as _intern_gates), `deadline` and `latest_start`.
-- Arrays: with entry_ns the columns have one element per entry, and entry_ns is each entry's number of jobs. An edge goes from
--   edge_parent_ns jobs, the first of which is edge_parents, to all jobs of the entry that begins with edge_children (_add_arrays).
--   array_*: what the jobs of an array share.
-- Raises WF103 (group), WF201 (key used with another body), WF203 (committed), WF205 (parent does not exist), WF207 (outside the update),
--   WF208 (overlap).
-- Owner: weft_tenant.  Granted to: weft_api, weft_system.
CREATE OR REPLACE FUNCTION weft.add_jobs_v2(
    tenant_id int, batch_id bigint, update_id int, first_job int, n_jobs int, jobs weft.job_columns,
    idempotency_key text DEFAULT NULL, digest bytea DEFAULT NULL
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_update weft.batch_update; v_bunch weft.bunch; v_base int; v_is_same boolean; v_shapes int[]; v_lanes int[];
    v_gate_sets int[]; v_limited text[]; v_has_gates boolean; v_has_edges boolean := coalesce(cardinality(jobs.edge_children), 0) > 0;
BEGIN
    PERFORM weft._as_tenant(add_jobs_v2.tenant_id);
    v_limited := weft._lock_limits(add_jobs_v2.tenant_id, jobs.shape_countables, false);
    v_has_gates := v_limited <> '{}' OR EXISTS (SELECT FROM unnest(jobs.rare_fields) f WHERE f ? 'gates');
    IF v_has_gates OR v_has_edges THEN
        -- Before the other locks: who deletes the batch holds its row while it waits for them.
        UPDATE weft.batch b SET gated = b.gated OR v_has_gates, has_edges = b.has_edges OR v_has_edges
        WHERE b.batch_id = add_jobs_v2.batch_id AND (v_has_gates AND NOT b.gated OR v_has_edges AND NOT b.has_edges);
    END IF;
    IF EXISTS (SELECT FROM unnest(jobs.edge_parents) p WHERE p < 0) THEN
        -- Before any row: a commit later in this transaction takes this lock, and a cancel that holds it takes the rows.
        PERFORM pg_advisory_xact_lock_shared(add_jobs_v2.batch_id);
    END IF;
    v_update := weft._open_update(add_jobs_v2.batch_id, add_jobs_v2.update_id);
    v_base := v_update.first_job - 1;
    v_bunch.tenant_id := add_jobs_v2.tenant_id;
    v_bunch.batch_id := add_jobs_v2.batch_id;
    v_bunch.update_id := add_jobs_v2.update_id;
    v_bunch.first_job := v_base + add_jobs_v2.first_job;
    v_bunch.n_jobs := add_jobs_v2.n_jobs;
    v_bunch.idempotency_key := add_jobs_v2.idempotency_key;
    v_bunch.digest := add_jobs_v2.digest;
    v_is_same := weft._check_bunch(v_update, v_bunch);
    IF v_is_same IS NOT NULL THEN
        RETURN CASE WHEN v_is_same THEN false END;
    END IF;
    jobs.group_ids := weft._tree_groups(v_update, jobs.group_ids, jobs.combo_sets);
    SELECT s.shape_ids, s.lane_ids INTO v_shapes, v_lanes FROM weft._shape_ids(
        jobs.shape_cpu_ms, jobs.shape_memory_mibs, jobs.shape_storage_mibs, jobs.shape_gpus, jobs.shape_countables) s;
    SELECT s.firsts, s.lane_ids INTO v_bunch.lane_firsts, v_bunch.lane_ids
        FROM weft._bunch_lanes(v_lanes, jobs.shape_indexes, jobs.entry_ns) s;
    IF cardinality(jobs.edge_children) > 0 THEN
        PERFORM weft._lock_parents(v_bunch.batch_id, v_base, jobs.edge_parents);
    END IF;
    -- After the parents' rows: a transaction that adds members holds job rows while it waits for a new membership.
    IF cardinality(jobs.combo_numbers) > 0 THEN
        jobs.group_ids := weft._member_groups(
            v_bunch.tenant_id, v_bunch.batch_id, coalesce(nullif(cardinality(jobs.entry_ns), 0), v_bunch.n_jobs),
            v_update.first_group, jobs.group_ids, jobs.combo_indexes, jobs.combo_numbers, jobs.combo_sets);
    END IF;
    IF cardinality(jobs.rare_jobs) > 0 THEN
        v_gate_sets := weft._job_gate_sets(v_bunch, v_base, jobs);
    END IF;
    IF v_limited <> '{}' THEN
        v_gate_sets := weft._queue_gate_sets(v_bunch, jobs, v_limited, v_gate_sets);
    END IF;
    IF cardinality(jobs.entry_ns) > 0 THEN
        PERFORM weft._add_arrays(v_bunch, v_base, jobs, v_shapes, v_lanes, v_gate_sets);
    ELSE
        PERFORM weft._add_rows(v_bunch, v_base, jobs, v_shapes, v_lanes, v_gate_sets);
    END IF;
    PERFORM weft._add_details(v_bunch, v_base, jobs);
    RETURN true;
EXCEPTION WHEN unique_violation THEN
    -- The failed block undid its settings, including the tenant.
    PERFORM weft._as_tenant(add_jobs_v2.tenant_id);
    -- The same bunch sent twice at once is not an error.
    v_is_same := weft._is_same_bunch(v_bunch.batch_id, v_bunch.update_id, v_bunch.first_job, v_bunch.n_jobs, v_bunch.digest);
    IF v_is_same IS NOT NULL THEN
        RETURN CASE WHEN v_is_same THEN false END;
    END IF;
    PERFORM weft._fail('WF208', 'the jobs overlap with others of their update',
        format('Some of jobs %s to %s were added by another bunch.', add_jobs_v2.first_job, add_jobs_v2.first_job + add_jobs_v2.n_jobs - 1),
            'Send each job of an update in one bunch.');
END $$;
