-- sources: what production lines read, and whether it goes well.
CREATE OR REPLACE VIEW weft_views.sources AS
SELECT
    s.name AS source,
    s.setup AS line,
    s.kind AS reads,
    s.lifecycle,
    CASE WHEN s.paused_at IS NOT NULL THEN 'paused' WHEN s.error IS NOT NULL THEN 'failing' ELSE 'active' END
        AS state,
    s.read_at,
    s.failed_since,
    coalesce(s.error, s.work_error) AS error,
    (SELECT count(*) FROM weft.source_item i WHERE i.source_id = s.source_id AND i.due_at IS NOT NULL) AS
        n_waiting
FROM weft.source s
WHERE s.ended_at IS NULL;
ALTER VIEW weft_views.sources OWNER TO weft_views;
GRANT SELECT ON weft_views.sources TO PUBLIC;
