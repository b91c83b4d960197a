-- Each completion of a batch or group with a callback has exactly one delivery, others have none; ended
--   deliveries are not retried.
SELECT x.*
FROM (
    SELECT
        coalesce(c.batch_id, d.batch_id) AS batch_id,
        coalesce(c.group_id, d.group_id) AS group_id,
        coalesce(c.completion, d.completion) AS completion,
        c.url,
        d.url AS delivered_to,
        d.delivery_id
    FROM (
        SELECT
            c.batch_id,
            c.group_id,
            c.completion,
            CASE WHEN g.group_id = 0 THEN b.callback ELSE g.callback END AS url
        FROM weft.group_completion c
        JOIN weft.batch b
        USING (batch_id)
        JOIN weft.job_group g
        USING (batch_id, group_id)
    ) c
    FULL JOIN (SELECT * FROM weft.callback_delivery WHERE kind = 'callback') d
    USING (batch_id, group_id, completion)
    WHERE (c.url IS NOT NULL AND d.delivery_id IS NULL)
        OR (d.delivery_id IS NOT NULL AND c.url IS DISTINCT FROM d.url)
        OR (d.delivered_at IS NOT NULL AND (d.next_at IS NOT NULL OR d.n_attempts = 0))
        OR (d.next_at IS NULL AND d.n_attempts = 0)
) x
-- A deleted batch gets no callbacks.
WHERE NOT EXISTS (SELECT FROM weft.batch d WHERE d.batch_id = x.batch_id AND d.deleted_at IS NOT NULL)
