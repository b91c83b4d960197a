-- _lane_room: how many more jobs of a lane an incarnation can run: its offered amounts minus those in use.
-- Safe to repeat: yes, it only reads; it includes this transaction's claims.
-- short_lanes: earlier lanes with a claimable job that found no room. Later lanes may not take the amounts
--   that these ask for; otherwise a job that asks for two gpus might never see two free at once.
-- Plan: claims of the incarnation in other lanes, then jobs by key; for a lane with only words, only the
--   lane. It runs with its callers' settings.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lane_room(of_incarnation_id int, of_lane_id int, short_lanes int[])
RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_amounts jsonb;
    v_foreign boolean;
BEGIN
    SELECT l.amounts, l.asks ? 'foreign'
    INTO v_amounts, v_foreign
    FROM weft.lane l
    WHERE l.lane_id = of_lane_id;
    IF v_amounts = '{}' OR v_foreign THEN  -- what foreign programs have is not known
        RETURN 2147483647;
    ELSIF EXISTS (
        SELECT
        FROM unnest(short_lanes) x
        JOIN weft.lane l ON l.lane_id = x
        CROSS JOIN LATERAL jsonb_object_keys(l.amounts) k
        WHERE v_amounts ? k
    ) THEN
        RETURN 0;
    END IF;
    RETURN (
        SELECT greatest(
            least(
                min(floor(((o.offers ->> a.key)::numeric - coalesce(t.amount, 0)) / a.value::numeric)),
                2147483647
            ),
            0
        )
        FROM (
            SELECT weft._offers(i) AS offers
            FROM weft.worker_incarnation i
            WHERE i.incarnation_id = of_incarnation_id
        ) o
        CROSS JOIN LATERAL jsonb_each_text(v_amounts) a
        LEFT JOIN (
            SELECT b.key, sum(g.n * b.value::numeric) AS amount
            FROM (
                SELECT j.lane_id, count(DISTINCT (c.batch_id, x)) AS n
                FROM weft.claim c
                CROSS JOIN LATERAL unnest(c.jobs) x
                CROSS JOIN LATERAL (
                    SELECT y.lane_id
                    FROM weft.job y
                    WHERE y.batch_id = c.batch_id
                        AND y.job_id = x
                        AND y.state = STATE_RUNNING
                        AND y.incarnation_id = of_incarnation_id
                    OFFSET 0
                ) j
                WHERE c.incarnation_id = of_incarnation_id AND c.lane_id IS DISTINCT FROM 0
                GROUP BY j.lane_id
            ) g
            JOIN weft.lane l ON l.lane_id = g.lane_id
            CROSS JOIN LATERAL jsonb_each_text(l.amounts) b
            GROUP BY b.key
        ) t ON t.key = a.key
    );
END $$;
