-- _lookahead_jobs: how many job numbers of a batch a claim looks ahead. Only a few while held jobs are being parked: there may be a million
--   of them, and each claim would walk over them again. The sweep wakes the workers that wait for jobs behind them.
-- Called by: _batch_terms.   Safe to repeat: yes, it only reads.   Plan: by the index of unswept holds.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lookahead_jobs(of_batch_id bigint) RETURNS int LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN EXISTS (
        SELECT FROM weft.group_hold h WHERE h.batch_id = of_batch_id AND NOT h.swept AND h.released_at IS NULL
    ) THEN 5000 ELSE 2147483647 END
$$;
