-- _add_arrays: add the jobs, edges and bunch for entries of which some are arrays: each entry becomes a number of equal jobs.
-- Called by: add_jobs, which has checked and locked all referenced rows.   Safe to repeat: no.
-- Locks: none but its inserts.   Plan: per entry, then rows by generate_series; earlier parents by key.
-- Numbers: shapes, groups and base are absolute; positions, edges and chunks are relative to the update; a negative parent is an existing
--   job. All jobs of an entry have the same parents, so waiting parents are counted once per entry. No edge may be counted twice.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_arrays(
    of_tenant_id int, of_batch_id bigint, of_update_id int, base int, first_position int, total_jobs int, entry_ns int[],
    shape_ids int[], shape_lanes int[], lane_firsts int[], section_lanes int[], shape_cpu_ms bigint[], shape_memory_mibs bigint[],
    shape_indexes int[], group_ids int[], priorities smallint[], always_runs boolean[], max_attempts smallint[], retry_ons int[],
    edge_children int[], edge_parents int[], edge_parent_ns int[], chunk_firsts int[], of_key text, of_digest bytea
) RETURNS void LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
    IF (SELECT sum(n) FROM unnest(entry_ns) n) <> total_jobs THEN
        PERFORM weft._fail('WF207', 'the jobs do not fit into their update', format('The entries do not add up to %s jobs.', total_jobs),
            'Make the sizes of the entries add up to the number of jobs.');
    END IF;
    WITH entry AS MATERIALIZED (
        SELECT (base + first_position + sum(t.n) OVER (ORDER BY t.place) - t.n)::int AS first_job, t.n,
            coalesce(t.shape, shape_indexes[1]) + 1 AS shape,
               coalesce(t.g, group_ids[1]) AS group_id, coalesce(t.priority, priorities[1]) AS priority,
                   coalesce(t.always_run, always_runs[1]) AS always_run,
               coalesce(t.tries, _add_arrays.max_attempts[1]) AS tries, coalesce(t.retry_on, retry_ons[1]) AS retry_on
        FROM unnest(entry_ns, shape_indexes, group_ids, priorities, always_runs, _add_arrays.max_attempts, retry_ons)
             WITH ORDINALITY AS t (n, shape, g, priority, always_run, tries, retry_on, place)),
    link AS MATERIALIZED (
        SELECT base + t.child AS child_id, CASE WHEN t.parent > 0 THEN base + t.parent ELSE -t.parent END AS parent_id,
            coalesce(t.n, 1) AS n, t.parent <= 0 AS is_cross
        FROM unnest(edge_children, edge_parents, edge_parent_ns) AS t (child, parent, n)),
    waiting AS (
        -- As in add_jobs. If the sweep works on a parent, its cursor is not among our jobs, so it settles all jobs of an entry or none.
        SELECT l.child_id, sum(CASE WHEN NOT l.is_cross THEN l.n WHEN p.state < STATE_SUCCESS OR p.is_told_later THEN 1 ELSE 0 END) AS n,
               coalesce(bool_or(p.state > STATE_SUCCESS AND NOT p.is_told_later), false) AS bad, bool_or(l.is_cross) AS is_cross
        FROM link l LEFT JOIN LATERAL (
            SELECT j.state, EXISTS (SELECT FROM weft.cascade c WHERE c.batch_id = of_batch_id AND c.job_id = l.parent_id
                AND c.next_child < l.child_id) AS is_told_later
            FROM weft.job j WHERE l.is_cross AND j.batch_id = of_batch_id AND j.job_id = l.parent_id OFFSET 0) p ON true
        GROUP BY l.child_id),
    ready AS MATERIALIZED (
        SELECT e.*, shape_ids[e.shape] AS shape_id, shape_lanes[e.shape] AS lane_id, w.child_id IS NULL AS is_ready,
            coalesce(w.n, 0) AS n_unfinished, coalesce(w.bad, false) AS bad, coalesce(w.is_cross, false) AS is_cross,
               w.child_id IS NOT NULL OR e.priority <> 0 OR e.always_run
                   OR shape_lanes[e.shape] <> section_lanes[width_bucket(e.first_job - base - first_position + 1, lane_firsts)] AS listed,
                       max(c.first_job) OVER (ORDER BY e.first_job) AS spec_first
        FROM entry e LEFT JOIN waiting w ON w.child_id = e.first_job LEFT JOIN (SELECT base + f AS first_job
            FROM unnest(chunk_firsts) f) c ON c.first_job = e.first_job),
    jobs AS (
        INSERT INTO weft.job (batch_id, job_id, tenant_id, update_id, group_id, shape_id, cpu_m, memory_mib, lane_id, spec_first,
                state, n_unfinished, listed, staged,
                              bad_parent, crowded, always_run, priority, max_attempts, retry_on)
        SELECT of_batch_id, r.first_job + generate_series(0, r.n - 1), of_tenant_id, of_update_id, r.group_id, r.shape_id,
               shape_cpu_ms[r.shape], shape_memory_mibs[r.shape],
               r.lane_id, r.spec_first, CASE WHEN r.is_ready THEN STATE_READY ELSE STATE_PENDING END,
               r.n_unfinished, r.listed, r.is_cross, r.bad, r.n_unfinished > 1000, r.always_run, r.priority, r.tries, r.retry_on
        FROM ready r),
    edges AS (
        INSERT INTO weft.edge (batch_id, parent_id, child_id, tenant_id)
        SELECT of_batch_id, x.parent_id, x.first_job + generate_series(0, x.n - 1), of_tenant_id
        FROM (SELECT l.parent_id + generate_series(0, l.n - 1) AS parent_id, e.first_job, e.n FROM link l
            JOIN entry e ON e.first_job = l.child_id) x),
    counts AS (
        INSERT INTO weft.bunch_count (batch_id, update_id, first_job, group_id, shape_id, tenant_id, n_pending, n_ready)
        SELECT of_batch_id, of_update_id, base + first_position, r.group_id, r.shape_id, of_tenant_id,
               coalesce(sum(r.n) FILTER (WHERE NOT r.is_ready), 0), coalesce(sum(r.n) FILTER (WHERE r.is_ready), 0)
        FROM ready r GROUP BY r.group_id, r.shape_id)
    INSERT INTO weft.bunch (batch_id, update_id, first_job, n_jobs, tenant_id, n_ranged, n_listed, has_cross, idempotency_key, digest,
        lane_firsts, lane_ids)
    SELECT of_batch_id, of_update_id, base + first_position, total_jobs, of_tenant_id,
           coalesce(sum(r.n) FILTER (WHERE r.is_ready AND NOT r.listed), 0), coalesce(sum(r.n) FILTER (WHERE r.is_ready AND r.listed), 0),
               bool_or(r.is_cross),
           of_key, of_digest, ARRAY(SELECT base + first_position - 1 + f FROM unnest(_add_arrays.lane_firsts) f), section_lanes
    FROM ready r;
    UPDATE weft.batch b SET has_edges = true WHERE b.batch_id = of_batch_id AND NOT b.has_edges AND cardinality(edge_children) > 0;
END $$;
