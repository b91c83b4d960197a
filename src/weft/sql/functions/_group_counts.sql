-- _group_counts: the number of jobs in each state of these groups and the last end of one, exact in this statement's snapshot.
-- `folded`: as of the last fold.
-- Called by: the readers of the api; _record_callbacks.   Safe to repeat: yes, it only reads.
-- Plan: sums by key; the deltas that are not folded (of about half a second) once.
-- Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._group_counts(batch_ids bigint[], group_ids int[], folded boolean DEFAULT false)
RETURNS TABLE (batch_id bigint, group_id int, n_pending bigint, n_ready bigint, n_queued bigint, n_creating bigint, n_running bigint,
               n_blocked bigint, n_succeeded bigint, n_failed bigint, n_errored bigint, n_cancelled bigint, last_ended_at timestamptz) LANGUAGE sql STABLE
AS $$
    WITH asked AS (SELECT * FROM unnest(_group_counts.batch_ids, _group_counts.group_ids) t (b, g)),
    part AS (
        SELECT c.batch_id, c.group_id, c.n_pending, c.n_ready, c.n_queued, c.n_creating, c.n_running, c.n_blocked, c.n_succeeded, c.n_failed, c.n_errored, c.n_cancelled, c.last_ended_at
        FROM asked a JOIN weft.group_count c ON c.batch_id = a.b AND c.group_id = a.g
        UNION ALL
        SELECT d.batch_id, n.ancestor_id, d.n_pending, d.n_ready, d.n_queued, d.n_creating, d.n_running, d.n_blocked, d.n_succeeded, d.n_failed, d.n_errored, d.n_cancelled, d.last_ended_at
        FROM weft.fold f
        JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto)
        JOIN weft.group_ancestor n ON n.batch_id = d.batch_id AND n.group_id = d.group_id
        JOIN asked a ON a.b = d.batch_id AND a.g = n.ancestor_id
        WHERE NOT _group_counts.folded)
    SELECT a.b, a.g, coalesce(sum(p.n_pending), 0)::bigint, coalesce(sum(p.n_ready), 0)::bigint, coalesce(sum(p.n_queued), 0)::bigint, coalesce(sum(p.n_creating), 0)::bigint,
           coalesce(sum(p.n_running), 0)::bigint, coalesce(sum(p.n_blocked), 0)::bigint, coalesce(sum(p.n_succeeded), 0)::bigint, coalesce(sum(p.n_failed), 0)::bigint,
           coalesce(sum(p.n_errored), 0)::bigint, coalesce(sum(p.n_cancelled), 0)::bigint, max(p.last_ended_at)
    FROM asked a LEFT JOIN part p ON p.batch_id = a.b AND p.group_id = a.g GROUP BY a.b, a.g
$$;
