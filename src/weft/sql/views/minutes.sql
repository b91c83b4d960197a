-- minutes: how many jobs ended in each minute of the last hour, with a lifecycle or without. Minutes in which
--   nothing ended may be missing.
CREATE OR REPLACE VIEW weft_views.minutes AS
SELECT m.minute, m.n_succeeded, m.n_failed, m.n_cancelled FROM weft.user_minute m WHERE m.user_id = 0;
ALTER VIEW weft_views.minutes OWNER TO weft_views;
GRANT SELECT ON weft_views.minutes TO PUBLIC;
