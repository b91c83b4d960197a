-- order_items: tell in which series items are that an api has taken, and what is before each of them there.
-- Safe to repeat: yes.
-- One that runs again also waits until the job that it had before has ended.
-- Locks: source; source_item.
-- Plan: by key; the item before by source_item_before_idx, from the end; its job, status and label by key.
-- products: whether those of the job before are wanted, too.
-- items: [{n, series, series_at}].
-- skip: statuses or states of jobs that are passed over.
-- until: the status that the job before must
--   have had since it last became ready; NULL: it must have ended well.
-- within_s: how far back it may be; NULL: any.
-- Returns: [{n, waits, previous}]: why the item must wait (NULL: it need not), and the fields and attributes
--   of the one before (NULL: there is none). NULL: the source was taken again; or it has new items whose
--   series is not known yet.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.order_items(
    tenant_id int,
    of_source_id int,
    taking bigint,
    items jsonb,
    skip text[],
    until text,
    within_s double precision,
    products boolean
) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    IF (weft._taken_source(of_source_id, taking)).source_id IS NULL THEN
        RETURN NULL;
    END IF;
    UPDATE weft.source_item i
    SET series = x.series, series_at = x.series_at, series_from = x.series_from
    FROM (
        SELECT y.*, coalesce(y.series_at - within_s::numeric, '-Infinity') AS series_from
        FROM jsonb_to_recordset(items) y (n bigint, series text, series_at numeric)
    ) x
    WHERE i.source_id = of_source_id
        AND i.n = x.n
        AND (i.series, i.series_at, i.series_from) IS DISTINCT FROM (x.series, x.series_at, x.series_from);
    IF EXISTS (
        SELECT
        FROM weft.source_item i
        WHERE i.source_id = of_source_id
            AND i.due_at IS NOT NULL
            AND i.state = 'new'
            AND i.series IS NULL
            AND i.n <> ALL (ARRAY(SELECT (x ->> 'n')::bigint FROM jsonb_array_elements(items) x))
    ) THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'n', x.n,
                    'waits', CASE
                        WHEN j.job_id IS NOT NULL
                            THEN format('it waits for b%s.j%s, its own job before', j.batch_id, j.job_id)
                        WHEN NOT p.reached THEN format('it waits for %s of series %s', p.name, x.series)
                    END,
                    'previous', CASE WHEN p.reached THEN p.previous END
                )
            ),
            '[]'
        )
        FROM jsonb_to_recordset(items) x (n bigint, series text, series_at numeric)
        JOIN weft.source_item i ON i.source_id = of_source_id AND i.n = x.n
        LEFT JOIN weft.job j ON j.batch_id = i.batch_id AND j.job_id = i.job_id AND j.state < STATE_SUCCESS
        LEFT JOIN LATERAL weft._item_before(
            of_source_id, x.series, x.series_at, skip, until, within_s, products
        ) p ON true
    );
END $$;
