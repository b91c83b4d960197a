-- Groups are held for a limit exactly while it pauses them, and it does so only while there is one.
-- The driver is still at it where `applied_at` is missing, or a version was not judged.
SELECT l.limit_id, l.stage, NULL::bigint AS batch_id, 'there is no limit to reach' AS finding
FROM weft.spend_limit l
WHERE l.judged_version = l.version
    AND (
        (l.stage = 'reached' OR l.near) AND l.amount_max IS NULL
            OR l.stage = 'slowed' AND l.amount_soft_max IS NULL
    )
UNION ALL
SELECT h.limit_id, l.stage, h.batch_id, 'held without a limit'
FROM weft.group_hold h
LEFT JOIN weft.spend_limit l
USING (limit_id)
WHERE h.limit_id <> 0
    AND h.released_at IS NULL
    AND (
        l.limit_id IS NULL
            OR l.applied_at IS NOT NULL
                AND l.judged_version = l.version
                AND (
                    l.stage <> 'reached' AND NOT l.near
                        OR l.stage = 'reached' AND l.on_limit <> 'pause'
                        OR h.admits <> (l.stage <> 'reached')
                )
            OR NOT EXISTS (
                SELECT
                FROM weft.batch b
                WHERE b.batch_id = h.batch_id
                    AND (
                        h.group_id = 0 AND (b.project_id = l.project_id OR b.user_id = l.user_id)
                            OR h.batch_id = l.batch_id AND h.group_id = l.group_id
                    )
            )
    )
UNION ALL
SELECT l.limit_id, l.stage, r.batch_id, 'claimed though it is paused'
FROM weft.spend_limit l
CROSS JOIN LATERAL (
    SELECT c.batch_id, j.claimed_at
    FROM weft.claim c
    CROSS JOIN unnest(c.jobs) x
    JOIN weft.job j ON j.batch_id = c.batch_id AND j.job_id = x AND j.state = STATE_RUNNING
    JOIN weft.batch b ON b.batch_id = c.batch_id
    WHERE b.project_id = l.project_id
        OR b.user_id = l.user_id
        OR b.batch_id = l.batch_id
            AND EXISTS (
                SELECT
                FROM weft.group_ancestor a
                WHERE a.batch_id = j.batch_id AND a.group_id = j.group_id AND a.ancestor_id = l.group_id
            )
) r
WHERE l.stage = 'reached'
    AND l.on_limit = 'pause'
    AND l.judged_version = l.version
    AND r.claimed_at > l.applied_at + interval '1 second'
