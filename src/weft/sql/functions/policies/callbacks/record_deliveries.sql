-- record_deliveries: record attempts to deliver callbacks, messages and notices: the answer, and when the
--   next attempt is due.
-- Safe to repeat: no; a repeat only counts one more attempt.
-- Locks: as _check_epoch; job (of messages, in key order); delivery; as _after_sends; as _after_notices (rows
--   above). redeliver_callback changes only deliveries that are not due, so none that is being sent.
-- Plan: by key.
-- retries_in_s: NULL: no more attempts. rejected_list: whether the receiver wants no such message. held_list:
--   whether a check stops it, until a person decides.
--   A batch deleted meanwhile has no deliveries left.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.record_deliveries(
    epoch bigint,
    delivery_ids bigint[],
    delivered_list boolean[],
    statuses int[],
    errors text[],
    retries_in_s double precision[],
    rejected_list boolean[],
    held_list boolean[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_messages boolean;
    v_recorded bigint[];
    v_notices boolean;
BEGIN
    PERFORM
    FROM weft.callback_delivery d
    JOIN weft.job j ON j.batch_id = d.batch_id AND j.job_id = d.job_id
    WHERE d.delivery_id = ANY (record_deliveries.delivery_ids) AND d.kind = 'message'
    ORDER BY j.batch_id, j.job_id
    FOR UPDATE OF j;
    v_messages := FOUND;
    WITH upd AS (
        UPDATE weft.callback_delivery d
        SET
            n_attempts = d.n_attempts + 1,
            tried_at = record_deliveries.at,
            last_status = t.status,
            last_error = left(t.error, 1024),
            delivered_at = CASE WHEN t.delivered THEN record_deliveries.at END,
            next_at =
                CASE WHEN NOT t.delivered THEN record_deliveries.at + t.retry_in_s * interval '1 second' END,
            held = CASE WHEN t.held THEN 'held' ELSE d.held END
        FROM unnest(delivery_ids, delivered_list, statuses, errors, retries_in_s, held_list) t (
            delivery_id, delivered, status, error, retry_in_s, held
        )
        WHERE d.delivery_id = t.delivery_id AND d.next_at IS NOT NULL
        RETURNING d.delivery_id, d.kind
    )
    SELECT array_agg(u.delivery_id ORDER BY u.delivery_id), bool_or(u.kind = 'notice')
    INTO v_recorded, v_notices
    FROM upd u;
    IF v_messages AND v_recorded IS NOT NULL THEN
        PERFORM weft._after_sends(
            v_recorded,
            ARRAY(
                SELECT t.id
                FROM unnest(record_deliveries.delivery_ids, record_deliveries.rejected_list) t (id, rejected)
                WHERE t.rejected
            ),
            record_deliveries.at
        );
    END IF;
    IF v_notices THEN
        PERFORM weft._after_notices(v_recorded, record_deliveries.at);
    END IF;
END $$;
