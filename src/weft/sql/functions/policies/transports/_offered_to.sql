-- _offered_to: the transport to which a queued job is offered, since when, and whether it has confirmed the message.
-- Called by: _why_facts.   Safe to repeat: yes, it only reads.   Plan: the offer by job.
-- Returns: NULL: it is offered to none.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._offered_to(of_batch_id bigint, of_job_id int) RETURNS jsonb LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object('transport', o.transport, 'since', o.offered_at, 'confirmed', o.confirmed_at IS NOT NULL)
    FROM weft.transport_offer o WHERE o.batch_id = of_batch_id AND o.job_id = of_job_id AND o.attempt IS NULL
$$;
