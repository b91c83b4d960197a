-- _at_heartbeat: what policies learn from a heartbeat.
-- Safe to repeat: yes.   For: _heartbeat, before it has locked jobs, with every attempt whose end is not recorded yet.
-- claiming: the list may lack attempts.
-- Locks: as _watch_attempts.   Plan: as _watch_attempts.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._at_heartbeat(of_incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[],
    claiming boolean, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._watch_attempts(of_incarnation_id, batch_ids, job_ids, attempts, claiming, _at_heartbeat.at);
END $$;
