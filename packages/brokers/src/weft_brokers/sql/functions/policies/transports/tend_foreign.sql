-- tend_foreign: what a worker does for its attempts, for those that foreign programs run in a pool: a
--   heartbeat, and the end of what was cancelled, and of what nobody has told of for longer than its queue
--   allows (queued_s): that is lost.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; as _foreign_worker; as _heartbeat; as _end_foreign (the same rows).
-- Plan: as _live_attempts; offers by key.
-- transports, tenants, listening_s: for how long the driver has heard outcomes without a gap. What was not
--   listened to is not lost.
-- Returns: the attempts that are lost, by batch and job.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.tend_foreign(
    epoch bigint,
    of_pool_id int,
    transports text[],
    tenants text[],
    listening_s double precision[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (batch_id bigint, job_id int) LANGUAGE plpgsql AS $$
DECLARE
    v_worker weft.worker_incarnation;
    v_live record;
    v_stop record;
    v_end record;
BEGIN
    PERFORM weft._foreign_worker(of_pool_id, true, tend_foreign.at);
    SELECT i.*
    INTO v_worker
    FROM weft.worker w
    JOIN weft.worker_incarnation i
    USING (worker_id)
    WHERE w.pool_id = of_pool_id AND w.name = 'foreign' AND i.ended_at IS NULL AND i.offers ? 'foreign';
    IF v_worker.incarnation_id IS NULL THEN
        RETURN;
    END IF;
    SELECT
        coalesce(array_agg(j.batch_id), '{}') AS batch_ids,
        coalesce(array_agg(j.job_id), '{}') AS job_ids,
        coalesce(array_agg(j.attempt), '{}') AS attempts
    INTO v_live
    FROM weft._live_attempts(v_worker.incarnation_id) j;
    SELECT h.*
    INTO v_stop
    FROM weft._heartbeat(
        v_worker.incarnation_id,
        v_live.batch_ids,
        v_live.job_ids,
        v_live.attempts,
        false,
        true,
        at => tend_foreign.at
    ) h;
    SELECT
        array_agg(e.batch_id) AS batch_ids,
        array_agg(e.job_id) AS job_ids,
        array_agg(e.attempt) AS attempts,
        array_agg(e.age_us) AS ages_us,
        array_agg(CASE WHEN e.stops THEN REASON_CANCELLED ELSE REASON_LOST END::smallint) AS reasons,
        array_agg(NULL::int) AS exit_codes,
        array_agg(CASE WHEN NOT e.stops THEN e.message END) AS messages,
        array_agg(e.stops) AS stops
    INTO v_end
    FROM (
        SELECT
            j.batch_id,
            j.job_id,
            j.attempt,
            (date_part('epoch', tend_foreign.at - j.started_at) * 1000000)::bigint AS age_us,
            (j.batch_id, j.job_id, j.attempt) IN (
                SELECT s.b, s.j, s.a
                FROM unnest(v_stop.stop_batch_ids, v_stop.stop_job_ids, v_stop.stop_attempts) s (b, j, a)
            ) AS stops,
            format('foreign programs have told nothing of it for %s s', d.queued_s) AS message,
            d.is_silent
        FROM weft._live_attempts(v_worker.incarnation_id) j
        LEFT JOIN LATERAL (
            SELECT x.queued_s, x.is_silent
            FROM weft._silent_offers(j.batch_id, j.job_id, transports, tenants, listening_s, tend_foreign.at)
                x
        ) d ON true
        ORDER BY j.batch_id, j.job_id
    ) e
    WHERE e.stops OR e.is_silent;
    IF v_end.job_ids IS NOT NULL THEN
        PERFORM weft._end_foreign(
            v_worker.incarnation_id, v_end.batch_ids, v_end.job_ids, v_end.attempts, v_end.ages_us,
            v_end.reasons, v_end.exit_codes, v_end.messages, tend_foreign.at
        );
        RETURN QUERY
        SELECT t.b, t.j FROM unnest(v_end.batch_ids, v_end.job_ids, v_end.stops) t (b, j, s) WHERE NOT t.s;
    END IF;
END $$;
