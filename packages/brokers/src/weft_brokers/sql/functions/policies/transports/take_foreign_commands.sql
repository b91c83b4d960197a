-- take_foreign_commands: what foreign programs are to be told of jobs that they have: signals, messages, more
--   time, and that an offer is worthless. What waits for a transport for an hour is forgotten.
-- Safe to repeat: yes: it is told until end_foreign_commands.
-- Locks: as _check_epoch; transport_cancel; as list_commands.
-- Plan: workers and commands, which are few; attempts as _live_attempts.
-- Returns: in order; command_id, incarnation_id, attempt: NULL for an offer that is worthless; age_s: for how
--   long it waits.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.take_foreign_commands(
    epoch bigint, transports text[], at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    transport text,
    tenant text,
    batch_id bigint,
    job_id int,
    offer_id bigint,
    command_id bigint,
    incarnation_id int,
    attempt smallint,
    signal smallint,
    extend_ms bigint,
    message text,
    age_s double precision
) LANGUAGE plpgsql AS $$
DECLARE
    v_worker int;
    v_live record;
BEGIN
    DELETE FROM weft.transport_cancel c WHERE c.at < take_foreign_commands.at - interval '1 hour';
    IF EXISTS (SELECT FROM weft.job_command) THEN
        FOR v_worker IN
            SELECT i.incarnation_id
            FROM weft.worker_incarnation i
            WHERE i.ended_at IS NULL AND i.offers ? 'foreign'
            ORDER BY 1
        LOOP
            SELECT
                coalesce(array_agg(j.batch_id), '{}') AS batch_ids,
                coalesce(array_agg(j.job_id), '{}') AS job_ids,
                coalesce(array_agg(j.attempt), '{}') AS attempts
            INTO v_live
            FROM weft._live_attempts(v_worker) j;
            RETURN QUERY
            SELECT
                o.transport, t.name, o.batch_id, o.job_id, o.offer_id, u.c, v_worker, u.a, u.s, u.e, u.m,
                date_part('epoch', take_foreign_commands.at - c.at)
            FROM weft.list_commands(
                v_worker, v_live.batch_ids, v_live.job_ids, v_live.attempts, take_foreign_commands.at
            ) l
            CROSS JOIN LATERAL unnest(
                l.command_ids,
                l.of_batch_ids,
                l.of_job_ids,
                l.of_attempts,
                l.signals,
                l.extensions_ms,
                l.messages
            ) WITH ORDINALITY u (c, b, j, a, s, e, m, n)
            JOIN weft.job_command c ON c.command_id = u.c
            JOIN weft.transport_offer o ON o.batch_id = u.b
                AND o.job_id = u.j
                AND o.attempt = u.a
                AND o.fence IS NOT NULL
            JOIN weft.tenant t ON t.tenant_id = o.tenant_id
            WHERE o.transport = ANY (take_foreign_commands.transports)
            ORDER BY u.n;
        END LOOP;
    END IF;
    RETURN QUERY
    SELECT
        c.transport, t.name, c.batch_id, c.job_id, c.offer_id, NULL::bigint, NULL::int, NULL::smallint,
        NULL::smallint, NULL::bigint, NULL,
        date_part('epoch', take_foreign_commands.at - c.at)
    FROM weft.transport_cancel c
    JOIN weft.tenant t
    USING (tenant_id)
    WHERE c.transport = ANY (take_foreign_commands.transports)
    ORDER BY c.offer_id
    LIMIT 1000;
END $$;
