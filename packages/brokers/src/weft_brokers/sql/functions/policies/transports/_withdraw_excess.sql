-- _withdraw_excess: the youngest offers of a queue beyond so many that wait are withdrawn: its consumers or
--   its stock are fewer now. Their jobs are ready again, and their messages worthless from now on. What is
--   younger than a second may be taken soon and stays.
-- Safe to repeat: yes.
-- For: offer_jobs, whose settings it has.
-- Locks: job (SKIP LOCKED, in key order); as _unqueue_jobs; as _announce.
-- Plan: the offers, which are few; jobs by key.
-- of_pool_id, of_tenant_id: whose; NULL: of all.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._withdraw_excess(
    of_pool_id int, of_tenant_id int, of_queue text, of_transport text, keep int
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
    v_job int[];
    v_new record;
BEGIN
    SELECT array_agg(x.batch_id), array_agg(x.job_id)
    INTO v_batch, v_job
    FROM (
        SELECT l.batch_id, l.job_id
        FROM (
            SELECT y.batch_id, y.job_id
            FROM (
                SELECT o.batch_id, o.job_id, o.offered_at
                FROM weft.transport_offer o
                WHERE o.queue = of_queue
                    AND o.transport = of_transport
                    AND o.attempt IS NULL
                    AND CASE
                        WHEN of_tenant_id IS NULL THEN o.pool_id = of_pool_id
                        ELSE o.tenant_id = of_tenant_id
                    END
                ORDER BY o.offer_id
                OFFSET keep
                LIMIT 1000
            ) y
            WHERE y.offered_at < clock_timestamp() - interval '1 second'
            ORDER BY y.batch_id, y.job_id
        ) t
        CROSS JOIN LATERAL (
            SELECT j.batch_id, j.job_id
            FROM weft.job j
            WHERE j.batch_id = t.batch_id AND j.job_id = t.job_id AND j.state = STATE_QUEUED
            FOR UPDATE SKIP LOCKED
        ) l
    ) x;
    IF v_batch IS NOT NULL THEN
        SELECT u.* INTO v_new FROM weft._unqueue_jobs(v_batch, v_job, clock_timestamp()) u;
        PERFORM weft._announce(v_new.pools, v_new.users, v_new.lanes);
    END IF;
END $$;
