-- expected: how many items each source found on each day (UTC) of the last month, how many of them are done,
--   and how many there should be.
CREATE OR REPLACE VIEW weft_views.expected AS
SELECT
    s.name AS source,
    d.day::date AS day,
    coalesce(n.found, 0) AS n_found,
    coalesce(n.jobs, 0) AS n_jobs,
    coalesce(n.succeeded, 0) AS n_succeeded,
    coalesce(n.failed, 0) AS n_failed,
    s.least,
    s.most,
    CASE
        WHEN coalesce(n.found, 0) < s.least THEN 'fewer'
        WHEN n.found > s.most THEN 'more'
        WHEN num_nonnulls(s.least, s.most) > 0 THEN 'as expected'
    END AS verdict
FROM (
    SELECT
        r.source_id,
        r.name,
        (r.template -> 'expected' ->> 'least')::bigint AS least,
        (r.template -> 'expected' ->> 'most')::bigint AS most,
        (SELECT i.found_at FROM weft.source_item i WHERE i.source_id = r.source_id ORDER BY i.n LIMIT 1) AS
            first_at,
        clock_timestamp() AT TIME ZONE 'UTC' AS now
    FROM weft.source r
    WHERE r.ended_at IS NULL
) s
CROSS JOIN LATERAL generate_series(
    date_trunc('day', greatest(s.first_at AT TIME ZONE 'UTC', s.now - interval '30 days')),
    s.now,
    interval '1 day'
) d (day)
LEFT JOIN (
    SELECT
        i.source_id,
        date_trunc('day', i.found_at AT TIME ZONE 'UTC') AS day,
        count(*) AS found,
        count(i.job_id) AS jobs,
        count(*) FILTER (WHERE j.state = STATE_SUCCESS) AS succeeded,
        count(*) FILTER (WHERE j.state > STATE_SUCCESS) AS failed
    FROM weft.source_item i
    LEFT JOIN weft.job j ON j.batch_id = i.batch_id AND j.job_id = i.job_id
    WHERE i.found_at >= clock_timestamp() - interval '31 days'
    GROUP BY i.source_id, date_trunc('day', i.found_at AT TIME ZONE 'UTC')
) n ON n.source_id = s.source_id
    AND n.day = d.day;
ALTER VIEW weft_views.expected OWNER TO weft_views;
GRANT SELECT ON weft_views.expected TO PUBLIC;
