-- statuses: how many jobs have each status now, by lifecycle and kind, and since when.
CREATE OR REPLACE VIEW weft_views.statuses AS
SELECT
    j.lifecycle,
    j.kind,
    j.status,
    j.state,
    count(*) AS n_jobs,
    min(j.status_since) AS oldest_since,
    max(j.status_since) AS newest_since
FROM weft_views.jobs j
WHERE j.status IS NOT NULL
GROUP BY j.lifecycle, j.kind, j.status, j.state;
ALTER VIEW weft_views.statuses OWNER TO weft_views;
GRANT SELECT ON weft_views.statuses TO PUBLIC;
