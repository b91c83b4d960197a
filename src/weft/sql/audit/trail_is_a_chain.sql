-- Each entry of the trail has the digest of what it says and of the entry before it, and the last one is the
--   one that was sealed last.
-- The first one follows the last one that retention has removed.
SELECT
    (t.entry).number,
    (t.entry).at::text AS at,
    (t.entry).user_name,
    (t.entry).action,
    CASE
        WHEN (t.entry).number <> t.number_before + 1 THEN 'the entry before it is missing'
        ELSE 'its digest is another'
    END AS what
FROM (
    SELECT
        e AS entry,
        lag(e.number, 1, h.removed_number) OVER w AS number_before,
        lag(e.digest, 1, h.removed_digest) OVER w AS digest_before
    FROM weft.trail_entry e
    CROSS JOIN weft.trail_head h
    WINDOW w AS (ORDER BY e.number)
) t
WHERE (t.entry).number <> t.number_before + 1
    OR (t.entry).digest <> weft._trail_digest(t.digest_before, t.entry)
UNION ALL
SELECT h.number, NULL, NULL, NULL, 'it was sealed last, and the trail ends with another'
FROM weft.trail_head h
LEFT JOIN (SELECT e.number, e.digest FROM weft.trail_entry e ORDER BY e.number DESC LIMIT 1) l ON true
WHERE h.number <> coalesce(l.number, h.removed_number) OR h.digest <> coalesce(l.digest, h.removed_digest)
