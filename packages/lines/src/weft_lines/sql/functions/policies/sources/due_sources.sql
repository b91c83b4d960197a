-- due_sources: the sources that are to be read now, besides those that are `busy`: with them `limit_rows`,
--   half of one tenant.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: by date: sources are few.
-- Returns: tenants in turn, the longest due first; its options have values instead of `${param.NAME}`;
--   sealed: as _sealed_of.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.due_sources(
    epoch bigint, busy int[], limit_rows int, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    source_id int,
    name text,
    kind text,
    options jsonb,
    every_s double precision,
    generation int,
    cursor jsonb,
    n_failures int,
    sealed jsonb,
    tenant_id int
) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT
        s.source_id,
        s.name,
        s.kind,
        weft._filled(s.tenant_id, s.options),
        s.every_s, s.generation, s.cursor, s.n_failures, weft._sealed_of(s), s.tenant_id
    FROM (
        SELECT
            d.source_id,
            row_number() OVER (PARTITION BY d.tenant_id ORDER BY d.next_at) + (
                SELECT count(*)
                FROM weft.source b
                WHERE b.source_id = ANY (busy) AND b.tenant_id = d.tenant_id
            ) AS n
        FROM weft.source d
        WHERE d.next_at <= due_sources.at AND d.source_id <> ALL (busy)
    ) turn
    JOIN weft.source s
    USING (source_id)
    WHERE turn.n <= greatest(1, limit_rows / 2)
    ORDER BY turn.n, s.next_at
    LIMIT greatest(0, limit_rows - cardinality(busy));
END $$;
