-- _silent_offers: the offer of a job that foreign programs may answer, and whether nobody has for longer than
--   its queue allows.
-- Plan: by key.
-- transports, tenants, listening_s: as tend_foreign.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._silent_offers(
    of_batch_id bigint,
    of_job_id int,
    transports text[],
    tenants text[],
    listening_s double precision[],
    at timestamptz
) RETURNS TABLE (queued_s int, is_silent boolean) LANGUAGE sql STABLE AS $$
    SELECT
        coalesce(q.queued_s, 600),
        coalesce(x.s, 0) > coalesce(q.queued_s, 600)
            AND coalesce(o.answered_at, o.offered_at) < _silent_offers.at - coalesce(q.queued_s, 600)
                * interval '1 second'
    FROM weft.transport_offer o
    JOIN weft.tenant t
    USING (tenant_id)
    LEFT JOIN weft.queue q ON q.tenant_id = o.tenant_id AND q.name = o.queue
    LEFT JOIN unnest(transports, tenants, listening_s) x (transport, tenant, s) ON x.transport = o.transport
        AND x.tenant = t.name
    WHERE o.batch_id = of_batch_id AND o.job_id = of_job_id AND o.fence IS NOT NULL
$$;
