-- _lose_incarnation: end an incarnation and mark all its live attempts lost; their jobs become ready again.
-- Safe to repeat: yes.
-- Returns: how many attempts were lost.
-- Locks: incarnation (exclusive); as complete_attempts; as _after_loss. It waits for the claims under way.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lose_incarnation(of_incarnation_id int, at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
    v_job int[];
    v_attempt smallint[];
    v_start_age bigint[];
    v_end_age bigint[];
    v_n int;
    v_known_at timestamptz;
    v_message text;
    v_zeros bigint[];
BEGIN
    PERFORM pg_advisory_xact_lock(7703, of_incarnation_id);
    UPDATE weft.worker_incarnation i
    SET ended_at = _lose_incarnation.at, waiting = false
    WHERE i.incarnation_id = of_incarnation_id AND i.ended_at IS NULL;
    SELECT i.heartbeat_at
    INTO v_known_at
    FROM weft.worker_incarnation i
    WHERE i.incarnation_id = of_incarnation_id;
    -- The attempt is dated back to the last sign of life; this says when that was noticed.
    v_message := 'its worker was lost, last heard of at '
        || to_char(v_known_at AT TIME ZONE 'UTC', 'HH24:MI:SS') || ', noticed at '
        || to_char(_lose_incarnation.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"');
    SELECT
        array_agg(j.batch_id),
        array_agg(j.job_id),
        array_agg(j.attempt),
        -- A lease costs nothing and is not a loss. A started attempt is known to have run at least until the
        -- last heartbeat.
        array_agg(
            CASE
                WHEN j.started_at IS NOT NULL
                    THEN (date_part('epoch', _lose_incarnation.at - j.started_at) * 1000000)::bigint
            END
        ),
        array_agg(
            (
                date_part('epoch', _lose_incarnation.at - greatest(j.claimed_at, j.started_at, v_known_at))
                    * 1000000
            )::bigint
        ),
        count(*)
    INTO v_batch, v_job, v_attempt, v_start_age, v_end_age, v_n
    FROM (SELECT * FROM weft._live_attempts(of_incarnation_id) j ORDER BY j.batch_id, j.job_id) j;
    IF v_n > 0 THEN
        v_zeros := array_fill(0::bigint, ARRAY[v_n]);
        PERFORM weft.complete_attempts(
            of_incarnation_id, v_batch, v_job, v_attempt, v_start_age, v_end_age,
            array_fill(REASON_LOST::smallint, ARRAY[v_n]),
            NULL, NULL, v_zeros, v_zeros, v_zeros, NULL, NULL, NULL, NULL,
            array_fill(v_message, ARRAY[v_n]),
            at => _lose_incarnation.at
        );
    END IF;
    PERFORM weft._after_loss(of_incarnation_id, _lose_incarnation.at);
    DELETE FROM weft.claim c WHERE c.incarnation_id = of_incarnation_id;
    RETURN v_n;
END $$;
