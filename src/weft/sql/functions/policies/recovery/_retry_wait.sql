-- _retry_wait: how long a job waits before its next try, as weft.core.ends.retry_policy.wait_s computes it. A
--   test compares the two.
-- tries: those that came to nothing, the last one included; waited_s: since the first of them; draw: from 0
--   to 1, how much of the jitter is taken away.
-- Returns: seconds; NULL: it is given up.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._retry_wait(
    policy jsonb, tries bigint, waited_s double precision, draw double precision
) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN waited_s >= (policy ->> 'give_up_s')::float8 THEN NULL
        ELSE wait.s * (1 - (policy ->> 'jitter')::float8 * draw)
    END
    FROM (
        SELECT CASE policy ->> 'policy'
            WHEN 'constant' THEN (policy ->> 'wait_s')::float8
            WHEN 'exponential'
                THEN
                    -- The longest wait is at most a year and the first at least a millisecond, so it is
                    -- reached in fewer than 60 doublings.
                    least(
                        (policy ->> 'first_s')::float8 * 2.0::float8 ^ least(tries - 1, 60),
                        (policy ->> 'longest_s')::float8
                    )
            WHEN 'stepwise'
                THEN (
                    SELECT x.wait_s
                    FROM (
                        SELECT
                            (s ->> 'wait_s')::float8 AS wait_s,
                            n,
                            sum(coalesce((s ->> 'tries')::bigint, 9223372036854775807))
                                OVER (ORDER BY n) AS upto
                        FROM jsonb_array_elements(policy -> 'steps') WITH ORDINALITY AS t (s, n)
                    ) x
                    WHERE x.upto >= tries
                    ORDER BY x.n
                    LIMIT 1
                )
        END AS s
    ) wait
$$;
