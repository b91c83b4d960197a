-- _open_ranges: give consecutive jobs that are about to become ready (`opens`) a range of their own, in which
--   claimers find them.
-- Safe to repeat: no.
-- For: _end_parents, which holds their rows; the caller then sets them ready and not listed.
-- Locks: as _may_open; as _add_ranges.
-- Plan: by key.
-- The range of their update may cover them, but its low mark may have passed them already.
-- Returns: for each row, whether it is in such a range.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._open_ranges(
    batch_ids bigint[], job_ids int[], update_ids int[], lane_ids int[], opens boolean[]
) RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
    v_update int[];
    v_lane int[];
    v_first int[];
    v_last int[];
BEGIN
    v_batch := weft._may_open(
        ARRAY(SELECT DISTINCT t.b FROM unnest(_open_ranges.batch_ids, _open_ranges.opens) t (b, o) WHERE t.o)
    );
    IF v_batch IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(x.b), array_agg(x.u), array_agg(x.a), array_agg(x.first_job), array_agg(x.last_job)
    INTO v_batch, v_update, v_lane, v_first, v_last
    FROM (
        SELECT r.b, r.u, r.a, min(r.c) AS first_job, max(r.c) AS last_job
        FROM (
            SELECT
                t.b, t.u, t.a, t.c, t.c - row_number() OVER (PARTITION BY t.b, t.u, t.a ORDER BY t.c) AS run
            FROM unnest(
                _open_ranges.batch_ids,
                _open_ranges.job_ids,
                _open_ranges.update_ids,
                _open_ranges.lane_ids,
                _open_ranges.opens
            ) t (b, c, u, a, o)
            WHERE t.o AND t.b = ANY (v_batch)
        ) r
        GROUP BY r.b, r.u, r.a, r.run
        HAVING count(*) >= 100
    ) x
    WHERE NOT EXISTS (SELECT FROM weft.runnable y WHERE y.batch_id = x.b AND y.first_job = x.first_job);
    IF v_first IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM weft._add_ranges(v_batch, v_update, v_lane, v_first, v_last);
    RETURN (
        SELECT array_agg(
            t.o
                AND EXISTS (
                    SELECT
                    FROM unnest(v_batch, v_first, v_last) r (b, f, l)
                    WHERE r.b = t.b AND t.c BETWEEN r.f AND r.l
                ) ORDER BY t.place
        )
        FROM unnest(_open_ranges.batch_ids, _open_ranges.job_ids, _open_ranges.opens)
            WITH ORDINALITY t (b, c, o, place)
    );
END $$;
