-- record_notices: record what is to be sent to subscriptions, and how far events were looked at for it.
-- Safe to repeat: yes, one delivery for each subscription and event.
-- Locks: as _check_epoch; subscription (shared, in the order of their ids); term (rows above).
-- Plan: by key.
-- notices: [{subscription_id, event_key, url, body}], those of a subscription in order. One that has ended
--   meanwhile gets none.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.record_notices(
    epoch bigint, notices jsonb, xid bigint, event_id bigint, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql PLAN_BY_KEY AS $$
BEGIN
    PERFORM
    FROM weft.subscription s
    WHERE s.subscription_id IN (
        SELECT (n ->> 'subscription_id')::bigint FROM jsonb_array_elements(record_notices.notices) n
    )
    ORDER BY s.subscription_id
    FOR SHARE;
    INSERT INTO weft.callback_delivery (
        kind, batch_id, tenant_id, subscription_id, event_key, order_key, url, host, body, created_at, next_at
    )
    SELECT
        'notice', s.batch_id, s.tenant_id, s.subscription_id, n.event_key,
        CASE WHEN NOT s.persistent THEN 'first' END,
        n.url, weft._host_of(n.url), n.body, record_notices.at, record_notices.at
    FROM ROWS
    FROM (
        jsonb_to_recordset(record_notices.notices) AS (
            subscription_id bigint, event_key text, url text, body text
        )
    ) WITH ORDINALITY n (subscription_id, event_key, url, body, n)
    JOIN weft.subscription s ON s.subscription_id = n.subscription_id AND s.ended_at IS NULL
    JOIN weft.batch b ON b.batch_id = s.batch_id AND b.deleted_at IS NULL
    ORDER BY n.n
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM pg_notify('driver', 'callback');
    END IF;
    UPDATE weft.event_reader r
    SET xid = record_notices.xid::text::xid8, event_id = record_notices.event_id
    WHERE r.reader = 'subscriptions'
        AND (r.xid, r.event_id) < (record_notices.xid::text::xid8, record_notices.event_id);
END $$;
