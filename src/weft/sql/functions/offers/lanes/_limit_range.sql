-- _limit_range: between which seconds the time limit of jobs of a lane is. Its class is a word that the lane
--   asks for (weft.core.scheduling.time_limits).
-- Returns: NULL for both if jobs have no limit; for `at_most_s` if it is above all classes.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._limit_range(asks jsonb, OUT at_least_s int, OUT at_most_s int)
LANGUAGE sql IMMUTABLE AS $$
    SELECT
        nullif(split_part(asks ->> 'timeout_s', '-', 1), '')::int,
        nullif(split_part(asks ->> 'timeout_s', '-', 2), '')::int
$$
