-- _after_completion: what follows when groups have completed.
-- Safe to repeat: yes.   Plan: as _record_callbacks.   For: _settle_groups, in the transaction that records the completions.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_completion(batch_ids bigint[], group_ids int[], at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._record_callbacks(batch_ids, group_ids, _after_completion.at);
END $$;
