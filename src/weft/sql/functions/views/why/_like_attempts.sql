-- _like_attempts: how long attempts took that are like those of a batch: of its owner's newest batches of the
--   same name; if there are none, of those of the same queue and application, and of these the attempts of
--   this shape.
-- Plan: the newest 200 batches by the index of users; of 20 of them 10 attempts that are spread evenly, by
--   key.
-- Returns: a list of lists of seconds, one for each batch.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._like_attempts(of_batch weft.batch, of_shape_id int) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    WITH newest AS (
        SELECT x.batch_id, x.next_job, x.queue_id, coalesce(x.name = of_batch.name, false) AS is_named
        FROM weft.batch x
        WHERE x.user_id = of_batch.user_id
        ORDER BY x.batch_id DESC
        LIMIT 200
    ),
    alike AS (
        SELECT n.*, rank() OVER (ORDER BY n.is_named DESC) AS kind
        FROM newest n
        WHERE n.batch_id <> of_batch.batch_id
            AND (
                n.is_named
                    OR n.queue_id = of_batch.queue_id
                        AND weft._came_by(n.batch_id) -> 'app'
                            IS NOT DISTINCT FROM weft._came_by(of_batch.batch_id) -> 'app'
            )
    )
    SELECT coalesce(jsonb_agg(t.seconds), '[]')
    FROM (SELECT a.* FROM alike a WHERE a.kind = 1 ORDER BY a.batch_id DESC LIMIT 20) l
    CROSS JOIN LATERAL (
        SELECT jsonb_agg(date_part('epoch', a.ended_at - a.started_at)) AS seconds
        FROM (SELECT DISTINCT 1 + i * (l.next_job - 1) / 10 AS job_id FROM generate_series(0, 9) i) n
        CROSS JOIN LATERAL (
            SELECT z.*
            FROM weft.attempt z
            WHERE z.batch_id = l.batch_id
                AND z.job_id = n.job_id
                AND z.started_at IS NOT NULL
                AND z.state IN (STATE_SUCCESS, STATE_FAILED)
            OFFSET 0
        ) a
        WHERE l.is_named OR a.shape_id = of_shape_id
    ) t
    WHERE t.seconds IS NOT NULL
$$;
