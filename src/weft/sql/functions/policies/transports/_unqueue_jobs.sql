-- _unqueue_jobs: queued jobs are ready again. The caller lists them, and does what is due with their offers.
-- Called by: withdraw_offers, expire_offers.   Safe to repeat: no.   Plan: by key.
-- Locks: job (by the caller).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._unqueue_jobs(batch_ids bigint[], job_ids int[], at timestamptz) RETURNS void LANGUAGE sql
AS $$
    WITH upd AS (
        UPDATE weft.job j SET state = STATE_READY, listed = true
        FROM unnest(_unqueue_jobs.batch_ids, _unqueue_jobs.job_ids) t (b, j) JOIN weft.batch b ON b.batch_id = t.b
        JOIN weft.queue q USING (queue_id)
        WHERE j.batch_id = t.b AND j.job_id = t.j AND j.state = STATE_QUEUED
        RETURNING j.tenant_id, j.batch_id, j.job_id, j.group_id, j.shape_id, weft._lane_pool(j.lane_id, q.pool_id) AS pool_id),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_ready, n_queued)
        SELECT u.tenant_id, u.batch_id, u.group_id, u.shape_id, u.pool_id, count(*), -count(*)
        FROM upd u GROUP BY u.tenant_id, u.batch_id, u.group_id, u.shape_id, u.pool_id)
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
    SELECT _unqueue_jobs.at, u.tenant_id, u.batch_id, 'jobs.ready', STATE_QUEUED, STATE_READY, array_agg(u.job_id ORDER BY u.job_id)
    FROM upd u GROUP BY u.tenant_id, u.batch_id
$$;
