-- _lookahead_jobs: how many job numbers a claimer looks ahead. While held jobs of a batch are being parked, not far: there may be a million
--   of them, and nobody should walk over them again and again. The sweep wakes those who wait for what stands behind.
-- Called by: claim_jobs, _has_work.   Safe to repeat: yes, it only reads.   Plan: by the index of unswept holds.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lookahead_jobs(of_batch_id bigint) RETURNS bigint LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM weft.group_hold h WHERE h.batch_id = of_batch_id AND NOT h.swept AND h.released_at IS NULL) THEN 5000 ELSE 2147483647 END
$$;
