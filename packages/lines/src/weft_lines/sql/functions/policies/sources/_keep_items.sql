-- _keep_items: keep of jobs that are removed next what the item after theirs in a series goes on from:
--   attributes, state and statuses.
-- Safe to repeat: yes; what was kept before stays.
-- Locks: source; source_item.
-- Plan: the items of the jobs by source_item_job_idx; the jobs by key.
-- Items are found by the numbers of their jobs: names and attributes may be edited.
-- A job that neither succeeded nor had a status since it last became ready leaves nothing ({}): its item is
--   passed over.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._keep_items(of_batch_id bigint, after_job int, last_job int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM
    FROM weft.source s
    WHERE s.source_id IN (
        SELECT i.source_id
        FROM weft.source_item i
        WHERE i.batch_id = of_batch_id
            AND i.job_id > after_job
            AND i.job_id <= last_job
            AND i.series IS NOT NULL
            AND i.state = 'job'
            AND i.left_over IS NULL
    )
    ORDER BY s.source_id
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE weft.source_item i
    SET left_over = CASE
        WHEN j.state = STATE_SUCCESS OR r.statuses IS NOT NULL
            THEN jsonb_build_object(
                'state', w.word, 'statuses', coalesce(r.statuses, '[]'), 'attributes', l.attributes
            ) || CASE
                WHEN r.statuses IS NULL THEN '{}'
                ELSE jsonb_build_object('status', k.statuses[s.status])
            END
        ELSE '{}'
    END
    FROM weft.job_label l
    JOIN weft.job j ON j.batch_id = l.batch_id AND j.job_id = l.job_id
    JOIN weft.job_state w ON w.state = j.state
    LEFT JOIN weft.lifecycle k ON k.lifecycle_id = j.lifecycle_id
    LEFT JOIN weft.job_status s ON s.batch_id = j.batch_id AND s.job_id = j.job_id
    CROSS JOIN LATERAL (
        SELECT jsonb_agg(DISTINCT k.statuses[c.status]) AS statuses
        FROM weft.job_status_change c
        WHERE c.batch_id = j.batch_id
            AND c.job_id = j.job_id
            AND c.status > 0
            AND c.n > weft._last_ready(j.batch_id, j.job_id)
    ) r
    WHERE l.batch_id = of_batch_id
        AND l.job_id > after_job
        AND l.job_id <= last_job
        AND i.batch_id = l.batch_id
        AND i.job_id = l.job_id
        AND i.series IS NOT NULL
        AND i.state = 'job'
        AND i.left_over IS NULL;
END $$;
