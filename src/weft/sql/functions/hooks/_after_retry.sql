-- _after_retry: what follows when jobs of a batch are pending or ready again, before they are offered.
-- Safe to repeat: yes.
-- Locks: as _pause_batch; as _ask_for_more.
-- Plan: theirs.
-- Raises what _pause_batch raises.
-- ready: those that are ready and listed.
-- may_ask: whether some of the jobs have rules for what they ask for.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_retry(of_batch_id bigint, ready int[], may_ask boolean, at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._pause_batch(of_batch_id, false);
    IF may_ask THEN
        PERFORM weft._ask_for_more(
            array_fill(of_batch_id, ARRAY[cardinality(ready)]),
            ready,
            array_fill(STATE_READY::smallint, ARRAY[cardinality(ready)]),
            _after_retry.at
        );
    END IF;
END $$;
