-- _next_offer: the next ready work of a pool, in some lanes, after a given offer. One offer is one user's
--   listed jobs of one rank and batch, or one range; offers are ordered by priority, then age, listed jobs
--   first. Users come in two passes: first those with a share of the claim, each up to it, where one has less
--   for what those before it took beyond theirs; then all by load, for what is left over.
-- For: claim_jobs, _offer_part; _has_work and claims of a pool in which only one user has work: without
--   shares, in one pass.
-- Safe to repeat: yes, it only reads. If a user's load changes between two calls, the user may be offered
--   twice or not at all; the next claim corrects that. Jobs that wait at gates or are parked are not offered.
-- Plan: by key, the heads of user_share, ready_job and runnable. It runs with the settings of its callers.
-- only_shares: no second pass.
-- Returns: an offer; if no work is left, its batch_id is NULL. A NULL argument asks for the first offer.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._next_offer(
    last weft.offer, of_pool_id int, lanes int[], shares weft.shares, only_shares boolean
) RETURNS weft.offer LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_next weft.offer;
    v_lanes int[];
    v_at int;
BEGIN
    IF last.user_id IS NULL THEN
        last := (
            CASE WHEN shares IS NULL THEN 2 ELSE 1 END, '-infinity', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL
        );
    END IF;
    LOOP
        IF last.share_m > 0 THEN
            -- Few workers serve many lanes, and no user has work in all lanes.
            v_lanes := CASE
                WHEN cardinality(lanes) > 16 THEN weft._lanes_with_work(of_pool_id, last.user_id, lanes)
                ELSE lanes
            END;
            -- The head of each lane after the last offer; if two are equal, the lane with the smaller number
            -- comes first.
            SELECT
                last.pass, last.load, last.user_id, last.tenant_id, h.*, l, last.share_m, last.share_jobs,
                last.left_by
            INTO v_next
            FROM unnest(v_lanes) l
            CROSS JOIN LATERAL (
                (
                    SELECT
                        q.rank,
                        q.batch_id,
                        0 AS first_job,
                        2147483647 AS last_job,
                        q.job_id AS low_job,
                        0::bigint AS runnable_id
                    FROM weft.ready_job q
                    WHERE q.gate_set_id = 0
                        AND q.pool_id = of_pool_id
                        AND q.user_id = last.user_id
                        AND q.lane_id = l
                        AND (q.rank, q.batch_id) > (
                            last.rank, last.batch_id - (l > last.lane_id AND last.first_job = 0)::int
                        )
                    ORDER BY q.rank, q.batch_id, q.job_id
                    LIMIT 1
                ) UNION ALL (
                    SELECT 0::smallint, r.batch_id, r.first_job, r.last_job, r.low_job, r.runnable_id
                    FROM weft.runnable r
                    WHERE r.gate_set_id = 0
                        AND r.pool_id = of_pool_id
                        AND r.user_id = last.user_id
                        AND r.lane_id = l
                        AND last.rank <= 0
                        AND (r.batch_id, r.first_job) > (
                            CASE WHEN last.rank = 0 THEN last.batch_id ELSE 0 END,
                            last.first_job - (l > last.lane_id)::int
                        )
                    ORDER BY r.batch_id, r.first_job
                    LIMIT 1
                )
            ) h
            ORDER BY h.rank, h.batch_id, h.first_job, l
            LIMIT 1;
            IF FOUND THEN
                RETURN v_next;
            END IF;
            last.left_by := CASE WHEN last.pass = 1 THEN last.left_by || last.user_id END;
        END IF;
        IF last.pass = 1 THEN
            v_at := coalesce(array_position(shares.user_ids, last.user_id), 0);
            SELECT
                1, s.load, s.user_id, s.tenant_id, -32768, 0, 0, 0, 0, 0, 0, x.share_m, x.jobs, last.left_by
            INTO v_next
            FROM (
                SELECT u.*, least(last.share_m, 0) + u.upto_m - coalesce(shares.upto_m[v_at], 0) AS share_m
                FROM unnest(shares.user_ids, shares.upto_m, shares.jobs)
                    WITH ORDINALITY u (user_id, upto_m, jobs, n)
            ) x
            JOIN weft.user_share s ON s.pool_id = of_pool_id AND s.user_id = x.user_id
            WHERE x.n > v_at AND x.share_m > 0
            ORDER BY x.n
            LIMIT 1;
        ELSE
            SELECT
                2, s.load, s.user_id, s.tenant_id, -32768, 0, 0, 0, 0, 0, 0, 9223372036854775807, NULL, NULL
            INTO v_next
            FROM weft.user_share s
            WHERE s.pool_id = of_pool_id AND s.active AND (s.load, s.user_id) > (last.load, last.user_id)
            ORDER BY s.load, s.user_id
            LIMIT 1;
        END IF;
        IF FOUND THEN
            last := v_next;
        ELSIF last.pass = 1 AND NOT only_shares THEN
            last := (2, '-infinity', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL);
        ELSE
            last.batch_id := NULL;
            RETURN last;
        END IF;
    END LOOP;
END $$;
