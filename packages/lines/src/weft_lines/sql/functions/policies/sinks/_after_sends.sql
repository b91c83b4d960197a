-- _after_sends: bring the statuses of jobs after tries to send their messages: `publishing`, then, when those
--   of all sinks are sent, `published` and the status of success; after a try that failed, or was rejected,
--   the path of the sink. One that a check has stopped leads no further, nor does one about a job that did
--   not end well.
-- Safe to repeat: no.
-- For: record_deliveries, which has locked the jobs.
-- Locks: job (by the caller); as _add_status_rows.
-- Plan: by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_sends(delivery_ids bigint[], rejected_ids bigint[], at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_one record;
    v_why text;
BEGIN
    FOR v_one IN
        SELECT
            j AS job,
            coalesce(d.held, '') AS held,
            d.delivered_at IS NOT NULL AS delivered,
            d.next_at IS NOT NULL AS again,
            s.document,
            d.delivery_id = ANY (_after_sends.rejected_ids) AS rejected,
            left(
                concat_ws(
                    ' ',
                    'sink ' || s.name || ':',
                    CASE
                        WHEN s.document ->> 'url' LIKE 'command:%' THEN 'it ended with '
                        ELSE 'it answered '
                    END || d.last_status,
                    d.last_error
                ),
                1024
            ) AS why,
            NOT EXISTS (
                SELECT
                FROM weft.callback_delivery o
                WHERE o.batch_id = d.batch_id
                    AND o.job_id = d.job_id
                    AND o.kind = 'message'
                    AND o.delivered_at IS NULL
                    AND o.held IS DISTINCT FROM 'dropped'
            ) AS all_sent
        FROM unnest(_after_sends.delivery_ids) WITH ORDINALITY t (id, n)
        JOIN weft.callback_delivery d ON d.delivery_id = t.id AND d.kind = 'message'
        JOIN weft.sink s ON s.sink_id = d.sink_id
        JOIN weft.job j ON j.batch_id = d.batch_id
            AND j.job_id = d.job_id
            AND j.lifecycle_id IS NOT NULL
            AND j.state = STATE_SUCCESS
        ORDER BY t.n
    LOOP
        PERFORM weft._move_status(v_one.job, PHASE_PUBLISHING::smallint);
        CONTINUE WHEN v_one.held = 'held';
        IF NOT v_one.delivered AND v_one.held <> 'dropped' THEN
            PERFORM weft._walk_path(
                v_one.job,
                ARRAY(
                    SELECT jsonb_array_elements_text(
                        v_one.document -> CASE
                            WHEN v_one.rejected AND (v_one.again OR v_one.document ->> 'rejected_tries' = '1')
                                THEN 'rejected_path'
                            WHEN v_one.again THEN 'retry_path'
                            ELSE 'given_up_path'
                        END
                    )
                ),
                CASE WHEN v_one.rejected THEN 'rejected' WHEN v_one.again THEN 'not sent' ELSE 'given up' END,
                v_one.why
            );
        ELSIF v_one.all_sent THEN
            PERFORM weft._move_status(v_one.job, 21::smallint);
            PERFORM weft._move_status(v_one.job, 0::smallint);
        END IF;
    END LOOP;
END $$;
