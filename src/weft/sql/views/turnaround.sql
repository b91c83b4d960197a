-- turnaround: how long each item of a source took until it was done, beside the target of its source.
--   It begins with the date that the target names, else when the item was found; it ends when its job has
--   succeeded and all its messages are delivered or dropped.
CREATE OR REPLACE FUNCTION weft_views.moment(word text) RETURNS timestamptz
LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF word !~ '^\d{4}-\d\d-\d\d' THEN
        RETURN NULL;
    END IF;
    -- As sources take them: a date without a zone is UTC.
    RETURN CASE
        WHEN word ~ '^\d{4}-\d\d-\d\d$' THEN word || 'T00:00:00Z'
        WHEN word ~ '(Z|[+-]\d\d(:?\d\d)?)$' THEN word
        ELSE word || 'Z'
    END::timestamptz;
EXCEPTION
    WHEN data_exception THEN
        RETURN NULL;
END $$;
ALTER FUNCTION weft_views.moment OWNER TO weft_views;
GRANT EXECUTE ON FUNCTION weft_views.moment TO PUBLIC;

CREATE OR REPLACE VIEW weft_views.turnaround AS
SELECT
    x.source,
    x.item,
    x.series,
    format('b%s.j%s', x.batch_id, x.job_id) AS job,
    x.state, x.found_at, x.begun_at, x.done_at,
    x.done_at - x.begun_at AS took,
    x.target,
    -- NULL: there is no target, or it is not done and may still be in time
    CASE
        WHEN x.done_at <= x.begun_at + x.target THEN true
        WHEN coalesce(x.done_at, clock_timestamp()) > x.begun_at + x.target THEN false
    END AS in_time
FROM (
    SELECT
        s.name AS source,
        i.key AS item,
        i.series,
        i.batch_id,
        i.job_id,
        w.word AS state,
        i.found_at,
        coalesce(weft_views.moment(i.fields ->> (s.template -> 'target' ->> 'from')), i.found_at) AS begun_at,
        CASE WHEN j.state = STATE_SUCCESS AND m.open IS NOT TRUE THEN greatest(t.ended_at, m.delivered_at) END
            AS done_at,
        make_interval(secs => (s.template -> 'target' ->> 'within_s')::double precision) AS target
    FROM weft.source_item i
    JOIN weft.source s ON s.source_id = i.source_id
    JOIN weft.job j ON j.batch_id = i.batch_id AND j.job_id = i.job_id
    JOIN weft.job_state w ON w.state = j.state
    LEFT JOIN weft.attempt t ON t.batch_id = j.batch_id AND t.job_id = j.job_id AND t.attempt = j.attempt
    CROSS JOIN LATERAL (
        SELECT
            bool_or(d.delivered_at IS NULL AND NOT d.dropped) AS open,
            max(CASE WHEN d.dropped THEN d.tried_at ELSE d.delivered_at END) AS delivered_at
        FROM (
            SELECT x.*, x.held IS NOT DISTINCT FROM 'dropped' AND x.next_at IS NULL AS dropped
            FROM weft.callback_delivery x
        ) d
        WHERE d.batch_id = i.batch_id AND d.job_id = i.job_id
    ) m
) x;
ALTER VIEW weft_views.turnaround OWNER TO weft_views;
GRANT SELECT ON weft_views.turnaround TO PUBLIC;
