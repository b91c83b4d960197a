-- _item_before: the item before a point of a series, and whether its job has got so far that the next one
--   need not wait.
-- Plan: by source_item_before_idx, from the end; its job, status, label and products by key.
-- Parameters: as order_items.
-- A job that was removed has got as far as it ever will: it is passed over, unless it succeeded or had the
--   status `until`.
-- Returns: name (of its job, or its key), reached, previous (fields and attributes; if asked for, the first
--   100 products). No row: there is none.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._item_before(
    of_source_id int,
    of_series text,
    before numeric,
    skip text[],
    until text,
    within_s double precision,
    products boolean
) RETURNS TABLE (name text, reached boolean, previous jsonb) LANGUAGE sql STABLE AS $$
    SELECT
        CASE WHEN p.state = 'job' THEN format('b%s.j%s', p.batch_id, p.job_id) ELSE p.key END,
        p.reached,
        p.fields || coalesce(p.left_over -> 'attributes', l.attributes, r.attributes, '{}')
            || jsonb_build_object('key', p.key, 'job', format('b%s.j%s', p.batch_id, p.job_id)) || CASE
                WHEN products
                    THEN jsonb_build_object(
                        'products', (
                            SELECT coalesce(jsonb_agg(d.document ORDER BY d.line), '[]')
                            FROM (
                                SELECT x.document, x.line
                                FROM weft.product x
                                WHERE x.batch_id = p.batch_id
                                    AND x.job_id = p.job_id
                                    AND x.kept_at IS NOT NULL
                                ORDER BY x.line
                                LIMIT 100
                            ) d
                        )
                    )
                ELSE '{}'
            END
    FROM (
        SELECT
            i.*,
            j.spec_first,
            CASE
                WHEN i.state <> 'job' THEN false
                WHEN i.left_over IS NOT NULL THEN true
                WHEN until IS NULL OR array_position(k.statuses, until) IS NULL
                    -- also of a job whose lifecycle has no such status: it is never reached
                    THEN j.state = STATE_SUCCESS
                ELSE EXISTS (
                    SELECT
                    FROM weft.job_status_change c
                    WHERE c.batch_id = i.batch_id
                        AND c.job_id = i.job_id
                        AND c.status = array_position(k.statuses, until)
                        AND c.n > weft._last_ready(i.batch_id, i.job_id)
                )
            END AS reached
        FROM weft.source_item i
        LEFT JOIN weft.job j ON i.state = 'job'
            AND i.left_over IS NULL
            AND j.batch_id = i.batch_id
            AND j.job_id = i.job_id
        LEFT JOIN weft.job_state w ON w.state = j.state
        LEFT JOIN weft.job_status s ON s.batch_id = j.batch_id
            AND s.job_id = j.job_id
            AND j.lifecycle_id IS NOT NULL
        LEFT JOIN weft.lifecycle k ON k.lifecycle_id = j.lifecycle_id
        WHERE i.source_id = of_source_id
            AND i.series = of_series
            AND i.series_at < before
            AND (within_s IS NULL OR i.series_at >= before - within_s::numeric)
            AND i.series IS NOT NULL
            AND i.state NOT IN ('cancelled', 'refused')
            AND (i.state <> 'job' OR i.left_over IS DISTINCT FROM '{}')
            AND (
                i.state <> 'job'
                    OR coalesce(w.word, i.left_over ->> 'state') <> ALL (skip)
                        AND coalesce(k.statuses[s.status], i.left_over ->> 'status', '') <> ALL (skip)
                        AND (
                            j.job_id IS NOT NULL
                                OR i.left_over ->> 'state' = 'success'
                                OR i.left_over -> 'statuses' ? until
                        )
            )
        ORDER BY i.series_at DESC, i.n DESC
        LIMIT 1
    ) p
    LEFT JOIN weft.job_label l ON l.batch_id = p.batch_id AND l.job_id = p.job_id
    LEFT JOIN weft.job_array r ON r.batch_id = p.batch_id AND r.first_job = p.spec_first
$$;
