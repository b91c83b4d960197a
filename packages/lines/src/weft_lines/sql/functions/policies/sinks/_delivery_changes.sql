-- _delivery_changes: what became of the messages of a job to the sinks of its batch, as rows of its history:
--   one for each, of its last try.
-- Plan: by batch and job.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._delivery_changes(of_job weft.job) RETURNS TABLE (
    part int,
    at timestamptz,
    from_state smallint,
    to_state smallint,
    phase smallint,
    attempt smallint,
    actor text,
    subtype text,
    message text,
    status text
) LANGUAGE sql STABLE AS $$
    SELECT
        10,
        coalesce(d.delivered_at, d.tried_at, d.created_at),
        NULL::smallint, NULL::smallint, NULL::smallint, NULL::smallint, 'weft', 'sink ' || s.name,
        concat_ws(
            ', ',
            'message ' || replace(weft._message_state(d), '_', ' '),
            'tries: ' || nullif(d.n_attempts, 0),
            'status ' || d.last_status,
            d.last_error
        ),
        NULL
    FROM weft.callback_delivery d
    JOIN weft.sink s
    USING (sink_id)
    WHERE d.batch_id = of_job.batch_id AND d.job_id = of_job.job_id AND d.kind = 'message'
$$;
