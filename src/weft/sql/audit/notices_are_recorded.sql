-- Notices are of subscriptions of their batch, which end with their first delivery unless they persist.
SELECT
    s.batch_id, s.subscription_id, s.event, s.ended_at, d.delivery_id, d.event_key, d.delivered_at, d.next_at
FROM weft.subscription s
FULL JOIN (SELECT * FROM weft.callback_delivery WHERE kind = 'notice') d
USING (subscription_id)
WHERE NOT EXISTS (
    SELECT FROM weft.batch b WHERE b.batch_id = coalesce(s.batch_id, d.batch_id) AND b.deleted_at IS NOT NULL
)
    AND (
        s.subscription_id IS NULL
            OR s.batch_id <> d.batch_id
            OR (d.delivered_at IS NOT NULL AND (d.next_at IS NOT NULL OR d.n_attempts = 0))
            OR (d.next_at IS NULL AND d.n_attempts = 0)
            OR (NOT s.persistent AND (d.delivered_at IS NOT NULL) AND s.ended_at IS NULL)
            OR (s.ended_at IS NOT NULL AND d.next_at IS NOT NULL AND d.n_attempts = 0)
            OR (
                d.delivery_id IS NULL
                    AND s.event = '*'
                    AND EXISTS (
                        SELECT
                        FROM weft.event_reader r
                        WHERE r.reader = 'subscriptions'
                            AND (r.xid, r.event_id) > (
                                SELECT e.xid, e.event_id
                                FROM weft.event e
                                WHERE e.batch_id = s.batch_id
                                ORDER BY e.xid, e.event_id
                                LIMIT 1
                            )
                    )
            )
    )
