-- _sources_due: in how much time the next source is read; negative: it is overdue; NULL: none will be, or not
--   before a reading ends.
-- Plan: the first by date, past those of tenants that have half of all.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._sources_due(busy bigint[], limit_rows int) RETURNS interval
LANGUAGE sql STABLE AS $$
    SELECT s.next_at - clock_timestamp()
    FROM weft.source s
    WHERE s.next_at IS NOT NULL
        AND s.source_id <> ALL (busy)
        AND cardinality(busy) < limit_rows
        AND s.tenant_id <> ALL (
            ARRAY(
                SELECT b.tenant_id
                FROM weft.source b
                WHERE b.source_id = ANY (busy)
                GROUP BY b.tenant_id
                HAVING count(*) >= greatest(1, limit_rows / 2)
            )
        )
    ORDER BY s.next_at
    LIMIT 1
$$;
