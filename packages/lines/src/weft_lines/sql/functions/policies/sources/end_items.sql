-- end_items: record the jobs of the set of items that was submitted, and let the source go.
-- Safe to repeat: yes; a repeat changes nothing.
-- Locks: source; source_item.
-- Plan: by key and source_item_ready_idx.
-- What is left waits behind what other sources have by then, so that a backlog of one holds up no other.
-- job_ids: of the items in the order of their numbers; empty: nothing was ready.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.end_items(
    tenant_id int,
    of_source_id int,
    taking bigint,
    batch_id bigint,
    job_ids int[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (weft._taken_source(of_source_id, taking)).source_id IS NULL THEN
        RETURN;
    END IF;
    UPDATE weft.source_item i
    SET
        state = 'job',
        document = NULL,
        reason = NULL,
        left_over = NULL,
        batch_id = end_items.batch_id,
        job_id = job_ids[r.place]
    FROM (
        SELECT x.n, row_number() OVER (ORDER BY x.n) AS place
        FROM weft.source_item x
        WHERE x.source_id = of_source_id AND x.state = 'ready'
    ) r
    WHERE i.source_id = of_source_id AND i.n = r.n;
    UPDATE weft.source s
    SET
        batch_id = coalesce(end_items.batch_id, s.batch_id),
        taken_until = NULL,
        work_error = NULL,
        work_at = CASE
            WHEN s.next_at IS NOT NULL
                THEN (
                    SELECT greatest(x.due_at, end_items.at)
                    FROM weft._next_item_at(of_source_id) x (due_at)
                    WHERE x.due_at IS NOT NULL
                )
        END
    WHERE s.source_id = of_source_id;
END $$;
