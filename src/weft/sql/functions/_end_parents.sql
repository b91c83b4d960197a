-- _end_parents: for each row one parent of this child has ended, well (`ok`) or not.
-- Called by: _settle_children, sweep_cancelled.   Safe to repeat: no.
-- Locks: the children's rows in key order.   Plan: jobs by key.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_parents(batch_ids bigint[], child_ids int[], oks boolean[], at timestamptz)
RETURNS void LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_batch bigint[]; v_job int[]; v_state smallint[];
BEGIN
    PERFORM FROM (SELECT DISTINCT t.b, t.c FROM unnest(_end_parents.batch_ids, _end_parents.child_ids) t (b, c) ORDER BY 1, 2) d
    CROSS JOIN LATERAL (SELECT FROM weft.job j WHERE j.batch_id = d.b AND j.job_id = d.c FOR UPDATE) l;
    WITH child AS MATERIALIZED (
        SELECT g.*, o.state AS old_state
        FROM (SELECT t.b, t.c, count(*) AS n, bool_or(NOT t.ok) AS bad
              FROM unnest(_end_parents.batch_ids, _end_parents.child_ids, _end_parents.oks) t (b, c, ok)
              GROUP BY 1, 2 ORDER BY 1, 2) g
        CROSS JOIN LATERAL (SELECT j.state FROM weft.job j WHERE j.batch_id = g.b AND j.job_id = g.c OFFSET 0) o),
    upd AS (
        UPDATE weft.job j SET n_unfinished = j.n_unfinished - c.n, bad_parent = j.bad_parent OR c.bad, listed = true,
            state = CASE WHEN j.n_unfinished > c.n OR j.staged OR j.state <> 0 THEN j.state
                         WHEN (j.bad_parent OR c.bad) AND NOT j.always_run THEN 9 ELSE 1 END,
            ready_at = CASE WHEN j.n_unfinished > c.n OR j.state <> 0 THEN j.ready_at ELSE _end_parents.at END,
            cancelled_at = CASE WHEN j.n_unfinished > c.n OR j.staged OR j.state <> 0 OR j.always_run OR NOT (j.bad_parent OR c.bad)
                                THEN j.cancelled_at ELSE _end_parents.at END
        FROM child c WHERE j.batch_id = c.b AND j.job_id = c.c
        RETURNING j.batch_id, j.job_id, j.state, j.tenant_id, j.group_id, j.shape_id, j.state <> c.old_state AS changed),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready, n_cancelled, last_ended_at)
        SELECT u.tenant_id, u.batch_id, u.group_id, u.shape_id, q.pool_id, -count(*), count(*) FILTER (WHERE u.state = 1), count(*) FILTER (WHERE u.state = 9),
               max(_end_parents.at) FILTER (WHERE u.state = 9)
        FROM upd u JOIN weft.batch b ON b.batch_id = u.batch_id JOIN weft.queue q ON q.queue_id = b.queue_id
        WHERE u.changed GROUP BY 1, 2, 3, 4, 5),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT _end_parents.at, u.tenant_id, u.batch_id, CASE u.state WHEN 1 THEN 'jobs.ready' ELSE 'jobs.cancelled' END, 0, u.state, array_agg(u.job_id)
        FROM upd u WHERE u.changed GROUP BY u.tenant_id, u.batch_id, u.state),
    cas AS (
        INSERT INTO weft.cascade (batch_id, job_id, tenant_id)
        SELECT u.batch_id, u.job_id, u.tenant_id FROM upd u WHERE u.changed AND u.state = 9
          AND EXISTS (SELECT FROM weft.edge e WHERE e.batch_id = u.batch_id AND e.parent_id = u.job_id)
        ON CONFLICT DO NOTHING)
    SELECT array_agg(u.batch_id), array_agg(u.job_id), array_agg(u.state) INTO v_batch, v_job, v_state FROM upd u WHERE u.changed AND u.state = 1;
    IF v_job IS NOT NULL THEN
        PERFORM weft._list_ready(v_batch, v_job, v_state, _end_parents.at);
    END IF;
END $$;
