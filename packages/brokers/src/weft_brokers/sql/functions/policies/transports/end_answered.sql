-- end_answered: foreign programs say how the jobs of these offers have ended. Those of one worker in a call:
--   others are `not_now`.
-- Safe to repeat: yes: an end is recorded once.
-- For: DriverStore.end_answered, after start_answered.
-- Locks: as _check_epoch; as _end_foreign (of one worker); transport_offer (SKIP LOCKED).
-- Plan: as _answered; as complete_attempts.
-- reasons: NULL: the job succeeded.
-- Returns: a word per offer, in order: `ended`; `not_now`: ask again; `settled`: it is no attempt that runs.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.end_answered(
    epoch bigint,
    transport text,
    tenant text,
    offer_ids bigint[],
    fences uuid[],
    reasons smallint[],
    exit_codes int[],
    messages text[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    v_words text[] := array_fill('settled'::text, ARRAY[cardinality(offer_ids)]);
    v_set record;
    v_of int;
    v_n bigint;
BEGIN
    FOR v_set IN
        SELECT
            a.incarnation_id,
            array_agg(a.n) AS ns,
            array_agg(a.offer_id) AS offer_ids,
            array_agg(a.batch_id) AS batch_ids,
            array_agg(a.job_id) AS job_ids,
            array_agg(a.attempt) AS attempts,
            array_agg(end_answered.reasons[a.n]) AS reasons,
            array_agg(end_answered.exit_codes[a.n]) AS exit_codes,
            array_agg(end_answered.messages[a.n]) AS messages,
            array_agg((date_part('epoch', end_answered.at - a.started_at) * 1000000)::bigint) AS ages_us
        FROM weft._answered(
            end_answered.transport, end_answered.tenant, end_answered.offer_ids, end_answered.fences
        ) a
        WHERE a.attempt IS NOT NULL
        GROUP BY 1
        ORDER BY 1
    LOOP
        v_of := coalesce(v_of, v_set.incarnation_id);
        IF v_of = v_set.incarnation_id THEN
            PERFORM weft._end_foreign(
                v_of, v_set.batch_ids, v_set.job_ids, v_set.attempts, v_set.ages_us, v_set.reasons,
                v_set.exit_codes, v_set.messages, end_answered.at
            );
            -- The program that has told the end is not told that its offer is worthless.
            UPDATE weft.transport_offer o
            SET fence = NULL
            WHERE o.offer_id IN (
                SELECT x.offer_id
                FROM weft.transport_offer x
                JOIN weft.job j ON j.batch_id = x.batch_id AND j.job_id = x.job_id
                WHERE x.offer_id = ANY (v_set.offer_ids)
                    AND (j.state <> STATE_RUNNING OR j.attempt > x.attempt)
                ORDER BY x.offer_id
                FOR UPDATE OF x SKIP LOCKED
            );
        END IF;
        FOREACH v_n IN ARRAY v_set.ns LOOP
            v_words[v_n] := CASE WHEN v_of = v_set.incarnation_id THEN 'ended' ELSE 'not_now' END;
        END LOOP;
    END LOOP;
    RETURN v_words;
END $$;
