-- history: each status that a job had, since when and until when (NULL: it has it), who brought it and why.
--   Before them those that its item had, which is there if it got no job, too; a status of both is told once.
CREATE OR REPLACE VIEW weft_views.history AS
SELECT
    format('b%s.j%s', h.batch_id, h.job_id) AS job,
    h.batch_id,
    h.job_id,
    coalesce(b.attributes ->> 'source', b.name) AS kind,
    c.name AS lifecycle,
    h.n,
    h.at,
    x.at AS until,
    c.statuses[h.status] AS status,
    w.word AS state,
    h.forbidden, h.attempt, h.actor, h.subtype, h.message,
    i.key AS item
FROM weft.job_status_change h
JOIN weft.batch b ON b.batch_id = h.batch_id AND b.deleted_at IS NULL
JOIN weft.lifecycle c ON c.lifecycle_id = b.lifecycle_id
JOIN weft.job_state w ON w.state = h.state
LEFT JOIN weft.job_status_change x ON x.batch_id = h.batch_id AND x.job_id = h.job_id AND x.n = h.n + 1
LEFT JOIN weft.source_item_change o ON o.batch_id = h.batch_id AND o.job_id = h.job_id AND o.state = 'job'
LEFT JOIN weft.source_item i ON i.source_id = o.source_id AND i.n = o.n
WHERE h.n > coalesce(o.repeats, 0)
UNION ALL
SELECT
    'b' || c.batch_id || '.j' || c.job_id,
    c.batch_id, c.job_id, s.name, s.lifecycle, NULL, c.at,
    (
        SELECT x.at
        FROM weft.source_item_change x
        WHERE x.source_id = c.source_id AND x.n = c.n AND x.change_id > c.change_id
        ORDER BY x.change_id
        LIMIT 1
    ),
    c.status, c.state, false, NULL, 'source ' || s.name, NULL, c.reason, i.key
FROM weft.source_item_change c
JOIN weft.source_item i ON i.source_id = c.source_id AND i.n = c.n
JOIN weft.source s ON s.source_id = c.source_id
WHERE c.status IS NOT NULL;
ALTER VIEW weft_views.history OWNER TO weft_views;
GRANT SELECT ON weft_views.history TO PUBLIC;
