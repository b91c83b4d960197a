-- _visible_failed_batches: batches that a user sees, newest first, from one on (NULL: from the newest), in
--   which jobs failed for good and are acknowledged or not; some of them may have none by what is not folded
--   yet. For callers who do not see the tenant.
-- Plan: inlined; from one batch to the next until the caller has enough: the newest below of own ones, of
--   those of each project of the user, each along its own index (comparing rows leaves no other to choose),
--   of granted ones and of those with deltas. Granted batches and deltas are looked at once, all.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._visible_failed_batches(of_user_id int, upto bigint, are_acknowledged boolean)
RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    WITH RECURSIVE single AS MATERIALIZED (
        SELECT c.batch_id
        FROM weft.batch_grant g
        CROSS JOIN LATERAL (
            SELECT y.batch_id
            FROM weft.failure_cause y
            WHERE y.batch_id = g.batch_id
                AND CASE WHEN are_acknowledged THEN y.n_acknowledged > 0 ELSE y.n_jobs > y.n_acknowledged END
            LIMIT 1
        ) c
        WHERE g.job_id = 0 AND g.user_id = of_user_id
        UNION
        SELECT d.batch_id
        FROM weft.failure_delta d
        WHERE weft._sees_batch(d.batch_id)
    ),
    step (batch_id) AS (
        SELECT least(upto, 9223372036854775806) + 1
        UNION ALL
        SELECT greatest(
            CASE
                WHEN are_acknowledged
                    THEN (
                        SELECT c.batch_id
                        FROM weft.failure_cause c
                        WHERE (c.owner_id, c.batch_id) < (of_user_id, s.batch_id)
                            AND c.owner_id >= of_user_id
                            AND c.n_acknowledged > 0
                        ORDER BY c.owner_id DESC, c.batch_id DESC
                        LIMIT 1
                    )
                ELSE (
                    SELECT c.batch_id
                    FROM weft.failure_cause c
                    WHERE (c.owner_id, c.batch_id) < (of_user_id, s.batch_id)
                        AND c.owner_id >= of_user_id
                        AND c.n_jobs > c.n_acknowledged
                    ORDER BY c.owner_id DESC, c.batch_id DESC
                    LIMIT 1
                )
            END,
            (
                SELECT max(p.batch_id)
                FROM weft.billing_member m
                CROSS JOIN LATERAL (
                    SELECT CASE
                        WHEN are_acknowledged
                            THEN (
                                SELECT c.batch_id
                                FROM weft.failure_cause c
                                WHERE (c.project_id, c.batch_id) < (m.project_id, s.batch_id)
                                    AND c.project_id >= m.project_id
                                    AND c.n_acknowledged > 0
                                ORDER BY c.project_id DESC, c.batch_id DESC
                                LIMIT 1
                            )
                        ELSE (
                            SELECT c.batch_id
                            FROM weft.failure_cause c
                            WHERE (c.project_id, c.batch_id) < (m.project_id, s.batch_id)
                                AND c.project_id >= m.project_id
                                AND c.n_jobs > c.n_acknowledged
                            ORDER BY c.project_id DESC, c.batch_id DESC
                            LIMIT 1
                        )
                    END AS batch_id
                    OFFSET 0
                ) p
                WHERE m.user_id = of_user_id
            ),
            (SELECT max(i.batch_id) FROM single i WHERE i.batch_id < s.batch_id)
        )
        FROM step s
        WHERE s.batch_id IS NOT NULL
    )
    SELECT s.batch_id
    FROM (SELECT x.batch_id FROM step x OFFSET 1) s
    CROSS JOIN LATERAL (
        SELECT y.* FROM weft.batch y WHERE y.batch_id = s.batch_id AND y.deleted_at IS NULL OFFSET 0
    ) b
    WHERE weft._permission(b.batch_id, b.user_id, b.project_id) > 0
$$;
