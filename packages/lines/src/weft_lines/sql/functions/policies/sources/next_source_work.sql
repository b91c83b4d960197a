-- next_source_work: in how much time an api may make jobs of items.
-- Plan: by source_work_at_idx: sources are few.
-- Returns: negative: now; NULL: nothing waits.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.next_source_work() RETURNS double precision
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT extract(epoch FROM min(greatest(s.work_at, s.taken_until, '2000-01-01')) - clock_timestamp())
    FROM weft.source s
    WHERE s.work_at IS NOT NULL
$$;
