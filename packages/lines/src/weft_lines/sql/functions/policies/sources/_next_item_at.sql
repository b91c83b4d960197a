-- _next_item_at: when an api may go on with the items of a source; NULL: nothing waits.
-- Plan: by source_item_ready_idx and source_item_due_idx.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._next_item_at(of_source_id int) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN EXISTS (SELECT FROM weft.source_item i WHERE i.source_id = of_source_id AND i.state = 'ready')
            THEN '-infinity'
        ELSE (
            SELECT i.due_at
            FROM weft.source_item i
            WHERE i.source_id = of_source_id AND i.due_at IS NOT NULL
            ORDER BY i.due_at
            LIMIT 1
        )
    END
$$;
