-- history: each status that a job had, since when and until when (NULL: it has it), who brought it and why.
CREATE OR REPLACE VIEW weft_views.history AS
SELECT format('b%s.j%s', h.batch_id, h.job_id) AS job,
    h.batch_id,
    h.job_id,
    coalesce(b.attributes ->> 'source', b.name) AS kind,
    c.name AS lifecycle,
    h.n,
    h.at,
    x.at AS until,
    c.statuses[h.status] AS status,
    w.word AS state,
    h.forbidden,
    h.attempt,
    h.actor,
    h.subtype,
    h.message
FROM weft.job_status_change h
JOIN weft.batch b ON b.batch_id = h.batch_id AND b.deleted_at IS NULL
JOIN weft.lifecycle c ON c.lifecycle_id = b.lifecycle_id
JOIN weft.job_state w ON w.state = h.state
LEFT JOIN weft.job_status_change x ON x.batch_id = h.batch_id AND x.job_id = h.job_id AND x.n = h.n + 1;
ALTER VIEW weft_views.history OWNER TO weft_views;
GRANT SELECT ON weft_views.history TO PUBLIC;
