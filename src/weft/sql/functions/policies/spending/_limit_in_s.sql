-- _limit_in_s: in how many seconds a limit is reached if what runs goes on; NULL: nothing runs, it is
--   reached, or there is none.
-- Safe to repeat: yes.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._limit_in_s(of_limit weft.spend_limit, used numeric, used_per_hour numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN of_limit.amount_max IS NOT NULL AND of_limit.stage <> 'reached' AND used_per_hour > 0
            THEN round(greatest(of_limit.amount_max - used, 0) / used_per_hour * 3600)
    END
$$;
