-- _add_edges: add the edges of a bunch without arrays, and count each job's parents that have not ended.
-- Safe to repeat: no.   Locks: none but its inserts.   Plan: parents by key.   For: _add_rows; the parents are locked.
-- Returns: for each job the number of parents to wait for, -1 if it has no parents; the jobs with a parent that should have succeeded and
--   did not; the jobs with parents in earlier updates, NULL if there are none.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_edges(
    bunch weft.bunch, base int, edge_children int[], edge_parents int[], edge_parent_ns int[],
    OUT n_parents int[], OUT bad_children int[], OUT cross_children int[]
) LANGUAGE plpgsql AS $$
BEGIN
    WITH e AS (
        SELECT DISTINCT base + t.c AS child, CASE WHEN t.p > 0 THEN base + t.p ELSE -t.p END AS parent, t.n < 0 OR NULL AS on_end
        FROM unnest(edge_children, edge_parents, edge_parent_ns) t (c, p, n)),
    ins AS (
        INSERT INTO weft.edge (batch_id, parent_id, child_id, tenant_id, on_end)
        SELECT bunch.batch_id, e.parent, e.child, bunch.tenant_id, e.on_end FROM e),
    counted AS (
        SELECT e.child, count(*) FILTER (WHERE j.state IS NULL OR j.state < STATE_SUCCESS OR c.job_id IS NOT NULL) AS n,
               coalesce(bool_or(j.state > STATE_SUCCESS AND c.job_id IS NULL AND e.on_end IS NULL), false) AS bad,
               bool_or(e.parent <= base) AS is_cross
        FROM e LEFT JOIN weft.job j ON j.batch_id = bunch.batch_id AND j.job_id = e.parent AND e.parent <= base
        LEFT JOIN weft.cascade c ON c.batch_id = j.batch_id AND c.job_id = j.job_id AND c.next_child < e.child
        GROUP BY e.child)
    SELECT array_agg(coalesce(c.n, -1) ORDER BY i), array_agg(c.child) FILTER (WHERE c.bad), array_agg(c.child) FILTER (WHERE c.is_cross)
    INTO n_parents, bad_children, cross_children
    FROM generate_series(bunch.first_job, bunch.first_job + bunch.n_jobs - 1) i LEFT JOIN counted c ON c.child = i;
END $$;
