-- expire_offers: jobs whose offers no foreign program has answered for longer than their queues allow
--   (queued_s) are ready again. Their messages are worthless from now on.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; job (SKIP LOCKED, in key order); as _unqueue_jobs; as _announce.
-- Plan: the offers, which are few; jobs by key.
-- transports, tenants, listening_s: as tend_foreign.
-- Returns: how many, by transport and queue.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.expire_offers(
    epoch bigint,
    transports text[],
    tenants text[],
    listening_s double precision[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (transport text, queue text, n_jobs bigint) LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
    v_job int[];
    v_tenant int[];
    v_s int[];
    v_new record;
BEGIN
    SELECT array_agg(x.batch_id), array_agg(x.job_id), array_agg(x.tenant_id), array_agg(x.queued_s)
    INTO v_batch, v_job, v_tenant, v_s
    FROM (
        SELECT j.batch_id, j.job_id, j.tenant_id, s.queued_s
        FROM weft.transport_offer o
        JOIN weft.job j ON j.batch_id = o.batch_id AND j.job_id = o.job_id
        CROSS JOIN LATERAL weft._silent_offers(
            o.batch_id, o.job_id, transports, tenants, listening_s, expire_offers.at
        ) s
        WHERE j.state = STATE_QUEUED AND o.attempt IS NULL AND o.fence IS NOT NULL AND s.is_silent
        ORDER BY j.batch_id, j.job_id
        LIMIT 1000
        FOR UPDATE OF j SKIP LOCKED
    ) x;
    IF v_batch IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT o.transport, o.queue, count(*)
    FROM unnest(v_batch, v_job) t (b, j)
    JOIN weft.transport_offer o ON o.batch_id = t.b AND o.job_id = t.j
    GROUP BY 1, 2
    ORDER BY 1, 2;
    INSERT INTO weft.job_change (batch_id, job_id, tenant_id, at, from_state, to_state, actor, message)
    SELECT
        t.b,
        t.j,
        t.t,
        expire_offers.at,
        STATE_QUEUED,
        STATE_READY,
        'driver',
        format('nobody answered its offer within %s s', t.s)
    FROM unnest(v_batch, v_job, v_tenant, v_s) t (b, j, t, s);
    SELECT u.* INTO v_new FROM weft._unqueue_jobs(v_batch, v_job, expire_offers.at) u;
    PERFORM weft._announce(v_new.pools, v_new.users, v_new.lanes);
END $$;
