-- _note_starts: these jobs of a batch were claimed: their places at gates that count starts (`by_date`) are
--   theirs no more, and come back at a date. The driver is rung, which may sleep until a later one.
-- Safe to repeat: yes, places that are gone stay so.
-- Locks: place (with the job).
-- Plan: places by job; gates by key. It runs with the settings of its caller.
-- Of more than 20 places a period, those that come back within a twentieth of it come together: late, never
--   early.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._note_starts(of_batch_id bigint, of_job_ids int[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    WITH gone AS (
        DELETE FROM weft.place p
        USING weft.gate g, weft._gate_kinds() k
        WHERE p.batch_id = of_batch_id
            AND p.job_id = ANY (of_job_ids)
            AND g.gate_id = p.gate_id
            AND k.kind = g.kind
            AND k.by_date
        RETURNING p.gate_id, p.cost, g.max_places, weft._gate_period(g.key) AS period
    )
    INSERT INTO weft.gate_return (gate_id, due_at, n)
    SELECT
        o.gate_id,
        CASE WHEN o.max_places > 20 THEN date_bin(o.period / 20, t.at, 'epoch') + o.period / 20 ELSE t.at END
            + o.period,
        sum(o.cost)
    FROM gone o
    CROSS JOIN (SELECT clock_timestamp() AS at) t
    GROUP BY 1, 2
    ORDER BY 1;
    IF FOUND THEN
        PERFORM pg_notify('driver', 'gates');
    END IF;
END $$;
