-- _fold_machine_sums: make one row of what changes of machines have added for each pool, flavour and state,
--   when it is rows_max rows more.
-- Safe to repeat: yes.
-- Locks: machine_sum. Rows that are added meanwhile stay.
-- Plan: all rows: as many as there are pools, flavours and states, and rows_max.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._fold_machine_sums(rows_max int DEFAULT 200) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF (
        SELECT count(*) - count(DISTINCT (s.pool_id, s.flavour, s.state)) >= rows_max FROM weft.machine_sum s
    ) THEN
        -- Of no machines something may remain: a fold that waited for another one takes what its own caller
        -- has added, and not the row that the other one has made meanwhile.
        WITH gone AS (DELETE FROM weft.machine_sum RETURNING *)
        INSERT INTO weft.machine_sum
        SELECT
            g.pool_id, g.flavour, g.state, sum(g.n), sum(g.from_us), sum(g.price), sum(g.price_from),
            sum(g.share), sum(g.share_from), sum(g.share_price), sum(g.share_price_from)
        FROM gone g
        GROUP BY 1, 2, 3
        HAVING ARRAY[
            sum(g.n),
            sum(g.from_us),
            sum(g.price),
            sum(g.price_from),
            sum(g.share),
            sum(g.share_from),
            sum(g.share_price),
            sum(g.share_price_from)
        ] <> '{0,0,0,0,0,0,0,0}';
    END IF;
END $$;
