-- jobs: each job with its status and its state, and since when it has them.
CREATE OR REPLACE VIEW weft_views.jobs AS
SELECT
    format('b%s.j%s', j.batch_id, j.job_id) AS job,
    j.batch_id,
    j.job_id,
    coalesce(b.attributes ->> 'source', b.name) AS kind,
    c.name AS lifecycle,
    c.statuses[s.status] AS status,
    s.since AS status_since,
    w.word AS state,
    coalesce(l.name, a.name) AS name,
    coalesce(a.attributes, '{}') || coalesce(l.attributes, '{}') AS attributes,
    b.name AS batch,
    q.name AS queue,
    o.name AS owner,
    j.priority,
    j.attempt AS attempts,
    u.committed_at AS created_at,
    coalesce(j.started_at, t.started_at) AS started_at,
    CASE WHEN j.state >= STATE_SUCCESS THEN coalesce(j.cancelled_at, t.ended_at) END AS ended_at
FROM weft.job j
JOIN weft.batch b ON b.batch_id = j.batch_id AND b.deleted_at IS NULL
JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0
    AND u.update_id = j.update_id
    AND u.committed_at IS NOT NULL
JOIN weft.queue q ON q.queue_id = b.queue_id
JOIN weft.tenant_user o ON o.user_id = b.user_id
JOIN weft.job_state w ON w.state = j.state
LEFT JOIN weft.lifecycle c ON c.lifecycle_id = j.lifecycle_id
LEFT JOIN weft.job_status s ON s.batch_id = j.batch_id AND s.job_id = j.job_id
LEFT JOIN weft.job_label l ON l.batch_id = j.batch_id AND l.job_id = j.job_id
LEFT JOIN weft.job_array a ON a.batch_id = j.batch_id AND a.first_job = j.spec_first
LEFT JOIN weft.attempt t ON t.batch_id = j.batch_id AND t.job_id = j.job_id AND t.attempt = j.attempt;
ALTER VIEW weft_views.jobs OWNER TO weft_views;
GRANT SELECT ON weft_views.jobs TO PUBLIC;
