-- _end_waiting: end jobs of one batch that wait, as cancelled; their children are left to the sweep.
-- Called by: cancel_jobs, sweep_cancelled.   Safe to repeat: yes, only jobs that wait are changed.   Returns: how many it ended.
-- Locks: the jobs' rows, locked by the caller or here in key order.   Plan: jobs by key.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_waiting(of_batch_id bigint, of_job_ids int[], at timestamptz) RETURNS bigint LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_job int[]; v_tenant int; v_edges boolean; v_pool int;
BEGIN
    PERFORM FROM (SELECT x FROM unnest(of_job_ids) x ORDER BY 1) d
    CROSS JOIN LATERAL (SELECT FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = d.x FOR UPDATE) l;
    -- After the rows were locked: who adds the first edge of the batch to one of them holds its row until it commits (add_jobs).
    SELECT b.tenant_id, b.has_edges, q.pool_id INTO v_tenant, v_edges, v_pool FROM weft.batch b JOIN weft.queue q USING (queue_id) WHERE b.batch_id = of_batch_id;
    WITH old AS MATERIALIZED (
        SELECT j.job_id, j.state, j.listed FROM unnest(of_job_ids) x
        CROSS JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = x AND y.state IN (0, 1, 2, 3, 5) OFFSET 0) j),
    upd AS (
        UPDATE weft.job j SET state = 9, cancelled_at = _end_waiting.at FROM old o
        WHERE j.batch_id = of_batch_id AND j.job_id = o.job_id AND j.state = o.state
        RETURNING j.job_id, j.group_id, j.shape_id, o.state AS old_state),
    gone AS (DELETE FROM weft.ready_job q USING old o WHERE q.batch_id = of_batch_id AND q.job_id = o.job_id AND o.listed AND o.state = 1),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready, n_queued, n_creating, n_blocked, n_cancelled, last_ended_at)
        SELECT v_tenant, of_batch_id, u.group_id, u.shape_id, v_pool, -count(*) FILTER (WHERE u.old_state = 0), -count(*) FILTER (WHERE u.old_state = 1),
               -count(*) FILTER (WHERE u.old_state = 2), -count(*) FILTER (WHERE u.old_state = 3), -count(*) FILTER (WHERE u.old_state = 5), count(*), _end_waiting.at
        FROM upd u GROUP BY u.group_id, u.shape_id),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT _end_waiting.at, v_tenant, of_batch_id, 'jobs.cancelled', u.old_state, 9, array_agg(u.job_id) FROM upd u GROUP BY u.old_state)
    SELECT array_agg(u.job_id) INTO v_job FROM upd u;
    IF v_edges AND v_job IS NOT NULL THEN
        INSERT INTO weft.cascade (batch_id, job_id, tenant_id)
        SELECT of_batch_id, x, v_tenant FROM unnest(v_job) x
        WHERE EXISTS (SELECT FROM weft.edge e WHERE e.batch_id = of_batch_id AND e.parent_id = x) ON CONFLICT DO NOTHING;
    END IF;
    RETURN coalesce(cardinality(v_job), 0);
END $$;
