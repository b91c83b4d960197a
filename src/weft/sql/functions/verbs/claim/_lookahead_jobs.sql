-- _lookahead_jobs: how many job numbers of a batch a claim looks ahead. Only a few while jobs behind a switch are being parked: there may
--   be a million of them, and each claim would walk over them again. The sweep wakes the workers that wait for jobs behind them.
-- Plan: as _switches.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lookahead_jobs(of_batch_id bigint) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM weft._switches(of_batch_id) s WHERE s.parking) THEN 5000 ELSE 2147483647 END
$$;
