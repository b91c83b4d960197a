-- _batch_terms: the terms on which a batch's jobs are offered: whether none may be claimed, whether each must
--   be checked for a cancel or a switch, and how far ahead a claim looks; whether the jobs have places at
--   gates. It looks ahead a few while jobs behind a switch are being parked: there may be a million, and each
--   claim would walk over them again. The sweep wakes who waits for jobs behind them.
-- For: claim_jobs, after it has locked the batch, and _has_work. `ranged`: the offer is a range; always_run
--   jobs are listed, so a range of a cancelled batch holds nothing that may run and is not walked.
-- Plan: inlined; cancels and switches by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._batch_terms(of_batch_id bigint, ranged boolean)
RETURNS TABLE (is_closed boolean, has_cancel boolean, has_switch boolean, lookahead_jobs int, gated boolean)
LANGUAGE sql STABLE AS $$
    SELECT
        x.has_switch AND weft._is_shut(x.batch_id)
            OR EXISTS (
                SELECT
                FROM weft.group_cancel c
                WHERE c.batch_id = x.batch_id AND c.group_id = 0 AND (c.force OR ranged)
            ),
        x.has_cancel,
        x.has_switch,
        CASE
            WHEN x.has_switch AND EXISTS (SELECT FROM weft._switches(x.batch_id) s WHERE s.parking) THEN 5000
            ELSE 2147483647
        END,
        x.gated
    FROM (
        SELECT
            b.batch_id,
            b.gated,
            EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = b.batch_id) AS has_cancel,
            EXISTS (SELECT FROM weft._switches(b.batch_id)) AS has_switch
        FROM weft.batch b
        WHERE b.batch_id = of_batch_id
        OFFSET 0
    ) x
$$;
