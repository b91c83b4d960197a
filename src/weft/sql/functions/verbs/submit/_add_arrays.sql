-- _add_arrays: add the jobs, edges and bunch for entries of which some are arrays: each entry becomes a
--   number of equal jobs.
-- Safe to repeat: no.
-- For: _add_bunch, whose caller has checked and locked all referenced rows.
-- Locks: none but its inserts.
-- Plan: per entry, then rows by generate_series; earlier parents by key.
-- Numbers: shapes, groups, bunch and base are absolute; edges and chunks are relative to the update; a
--   negative parent is an existing job. All jobs of an entry have the same parents, so waiting parents are
--   counted once per entry. No edge may be counted twice.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_arrays(
    bunch weft.bunch, base int, jobs weft.job_columns, shape_ids int[], shape_lanes int[], gate_sets int[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_cpu_ms bigint[] := jobs.shape_cpu_ms;
    v_memory_mibs bigint[] := jobs.shape_memory_mibs;
    v_lane_firsts int[] := bunch.lane_firsts;
    v_lanes int[] := bunch.lane_ids;
    v_shape int := jobs.shape_indexes[1];
    v_group int := jobs.group_ids[1];
    v_priority smallint := jobs.priorities[1];
    v_always boolean := jobs.always_runs[1];
    v_tries smallint := jobs.max_attempts[1];
    v_retry_on int := jobs.retry_ons[1];
BEGIN
    IF (SELECT sum(n) FROM unnest(jobs.entry_ns) n) <> bunch.n_jobs THEN
        PERFORM weft._fail(
            'WF207',
            'the jobs do not fit into their update',
            format('The entries do not add up to %s jobs.', bunch.n_jobs),
            'Make the sizes of the entries add up to the number of jobs.'
        );
    END IF;
    WITH entry AS MATERIALIZED (
        SELECT
            (bunch.first_job + sum(t.n) OVER (ORDER BY t.place) - t.n)::int AS first_job,
            t.n,
            coalesce(t.shape, v_shape) + 1 AS shape,
            coalesce(t.g, v_group) AS group_id,
            coalesce(t.priority, v_priority) AS priority,
            coalesce(t.always_run, v_always) AS always_run,
            coalesce(t.tries, v_tries) AS tries,
            coalesce(t.retry_on, v_retry_on) AS retry_on,
            t.gate_set
        FROM unnest(
            jobs.entry_ns,
            jobs.shape_indexes,
            jobs.group_ids,
            jobs.priorities,
            jobs.always_runs,
            jobs.max_attempts,
            jobs.retry_ons,
            gate_sets
        ) WITH ORDINALITY AS t (n, shape, g, priority, always_run, tries, retry_on, gate_set, place)
    ),
    link AS MATERIALIZED (
        SELECT
            base + t.child AS child_id,
            CASE WHEN t.parent > 0 THEN base + t.parent ELSE -t.parent END AS parent_id,
            CASE WHEN t.n < SHARE_NEED THEN 1 ELSE greatest(abs(t.n), 1) END AS n,
            t.parent <= 0 AS is_cross,
            (
                CASE
                    WHEN t.n < SHARE_NEED THEN t.n - SHARE_NEED
                    WHEN t.n < 0 THEN NEED_END
                    WHEN t.n = 0 THEN NEED_START
                END
            )::smallint AS need
        FROM unnest(jobs.edge_children, jobs.edge_parents, jobs.edge_parent_ns) AS t (child, parent, n)
    ),
    waiting AS (
        -- As in _add_rows. If the sweep works on a parent, its cursor is not among our jobs, so it settles
        -- all jobs of an entry or none.
        SELECT
            l.child_id,
            sum(
                CASE
                    WHEN NOT l.is_cross THEN l.n
                    WHEN p.state < STATE_SUCCESS OR p.is_told_later THEN 1
                    ELSE 0
                END
            ) AS n,
            coalesce(
                bool_or(
                    p.state > STATE_SUCCESS
                        AND NOT p.is_told_later
                        AND NOT weft._suffices(l.need, bunch.batch_id, l.parent_id)
                ),
                false
            ) AS bad,
            bool_or(l.is_cross) AS is_cross
        FROM link l
        LEFT JOIN LATERAL (
            SELECT
                j.state,
                EXISTS (
                    SELECT
                    FROM weft.cascade c
                    WHERE c.batch_id = bunch.batch_id AND c.job_id = l.parent_id AND c.next_child < l.child_id
                ) AS is_told_later
            FROM weft.job j
            WHERE l.is_cross AND j.batch_id = bunch.batch_id AND j.job_id = l.parent_id
            OFFSET 0
        ) p ON true
        GROUP BY l.child_id
    ),
    ready AS MATERIALIZED (
        SELECT
            e.*,
            shape_ids[e.shape] AS shape_id,
            shape_lanes[e.shape] AS lane_id,
            w.child_id IS NULL AS is_ready,
            coalesce(w.n, 0) AS n_unfinished,
            coalesce(w.bad, false) AS bad,
            coalesce(w.is_cross, false) AS is_cross,
            w.child_id IS NOT NULL
                OR e.priority <> 0
                OR e.always_run
                OR e.gate_set IS NOT NULL
                OR shape_lanes[e.shape] <> v_lanes[
                    width_bucket(e.first_job - bunch.first_job + 1, v_lane_firsts)
                ] AS listed,
            max(c.first_job) OVER (ORDER BY e.first_job) AS spec_first
        FROM entry e
        LEFT JOIN waiting w ON w.child_id = e.first_job
        LEFT JOIN (SELECT base + f AS first_job FROM unnest(jobs.chunk_firsts) f) c
            ON c.first_job = e.first_job
    ),
    added AS (
        INSERT INTO weft.job (
            batch_id, job_id, tenant_id, update_id, group_id, shape_id, cpu_m, memory_mib, lane_id,
            spec_first, state, n_unfinished, listed, staged, bad_parent, crowded, always_run, priority,
            max_attempts, retry_on, gate_set_id
        )
        SELECT
            bunch.batch_id,
            r.first_job + generate_series(0, r.n - 1),
            bunch.tenant_id, bunch.update_id, r.group_id, r.shape_id, v_cpu_ms[r.shape],
            v_memory_mibs[r.shape], r.lane_id, r.spec_first,
            CASE WHEN r.is_ready THEN STATE_READY ELSE STATE_PENDING END,
            r.n_unfinished, r.listed, r.is_cross, r.bad, r.n_unfinished > 1000, r.always_run, r.priority,
            r.tries, r.retry_on, r.gate_set
        FROM ready r
    ),
    edges AS (
        INSERT INTO weft.edge (batch_id, parent_id, child_id, tenant_id, need)
        SELECT bunch.batch_id, x.parent_id, x.first_job + generate_series(0, x.n - 1), bunch.tenant_id, x.need
        FROM (
            SELECT l.parent_id + generate_series(0, l.n - 1) AS parent_id, l.need, e.first_job, e.n
            FROM link l
            JOIN entry e ON e.first_job = l.child_id
        ) x
    ),
    counts AS (
        INSERT INTO weft.bunch_count (
            batch_id, update_id, first_job, group_id, shape_id, tenant_id, n_pending, n_ready
        )
        SELECT
            bunch.batch_id,
            bunch.update_id,
            bunch.first_job,
            r.group_id,
            r.shape_id,
            bunch.tenant_id,
            coalesce(sum(r.n) FILTER (WHERE NOT r.is_ready), 0),
            coalesce(sum(r.n) FILTER (WHERE r.is_ready), 0)
        FROM ready r
        GROUP BY r.group_id, r.shape_id
    )
    INSERT INTO weft.bunch (
        batch_id, update_id, first_job, n_jobs, tenant_id, n_ranged, n_listed, has_cross, idempotency_key,
        digest, lane_firsts, lane_ids, n_bytes
    )
    SELECT
        bunch.batch_id, bunch.update_id, bunch.first_job, bunch.n_jobs, bunch.tenant_id,
        coalesce(sum(r.n) FILTER (WHERE r.is_ready AND NOT r.listed), 0),
        coalesce(sum(r.n) FILTER (WHERE r.is_ready AND r.listed), 0),
        bool_or(r.is_cross),
        bunch.idempotency_key,
        bunch.digest,
        ARRAY(SELECT bunch.first_job - 1 + f FROM unnest(v_lane_firsts) f),
        v_lanes,
        bunch.n_bytes
    FROM ready r;
END $$;
