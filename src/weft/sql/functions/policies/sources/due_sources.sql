-- due_sources: the sources that are to be read now, besides these.
-- Safe to repeat: yes, it only reads.   Locks: as _check_term.   Plan: by date.
-- Returns: the longest due first; its options have values instead of `${param.NAME}`; sealed: as _sealed_of.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.due_sources(epoch bigint, busy int[], limit_rows int, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (source_id int, name text, kind text, options jsonb, every_s double precision, generation int, cursor jsonb, n_failures int,
    sealed jsonb) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_term(due_sources.epoch);
    RETURN QUERY
    SELECT s.source_id, s.name, s.kind, weft._filled(s.tenant_id, s.options), s.every_s,
        s.generation, s.cursor, s.n_failures, weft._sealed_of(s) FROM weft.source s
    WHERE s.next_at <= due_sources.at AND s.source_id <> ALL (busy) ORDER BY s.next_at LIMIT limit_rows;
END $$;
