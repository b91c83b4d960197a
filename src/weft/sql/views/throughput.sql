-- throughput: how often jobs came to each status, by hour.
CREATE OR REPLACE VIEW weft_views.throughput AS
SELECT date_trunc('hour', h.at, 'UTC') AS hour, h.lifecycle, h.kind, h.status, h.state, count(*) AS n_jobs
FROM weft_views.history h
WHERE NOT h.forbidden
GROUP BY date_trunc('hour', h.at, 'UTC'), h.lifecycle, h.kind, h.status, h.state;
ALTER VIEW weft_views.throughput OWNER TO weft_views;
GRANT SELECT ON weft_views.throughput TO PUBLIC;
