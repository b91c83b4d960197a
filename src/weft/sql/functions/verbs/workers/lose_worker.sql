-- lose_worker: give up a worker that is silent and whose attempts run elsewhere; they are lost, and their
--   jobs go to others. Whoever says so has made sure that nothing of it runs; if it comes back, it ends what
--   it finds before it takes jobs.
-- Safe to repeat: yes.
-- Locks: worker; incarnation; as _lose_incarnation; as _settle_commands.
-- Returns: whether it lived.  Raises as _lock_worker; WF311 if it was heard of in the last 10 s.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.lose_worker(of_name text, of_pool text, actor text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_worker record;
    v_at timestamptz;
    v_silent_s double precision;
BEGIN
    SELECT * INTO v_worker FROM weft._lock_worker(of_name, of_pool);
    IF v_worker.incarnation_id IS NULL THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(7703, v_worker.incarnation_id);
    v_at := clock_timestamp();
    SELECT date_part('epoch', v_at - i.heartbeat_at)
    INTO v_silent_s
    FROM weft.worker_incarnation i
    WHERE i.incarnation_id = v_worker.incarnation_id;
    IF v_silent_s < 10 THEN
        PERFORM weft._fail(
            'WF311',
            format('worker "%s" is at work', of_name),
            format('It was heard of %s s ago.', greatest(0, round(v_silent_s))),
            format('Let it end in order: `weft worker drain %s`.', of_name)
        );
    END IF;
    PERFORM weft._record_worker_change(v_worker.worker_id, 'lost', lose_worker.actor, NULL, v_at);
    PERFORM weft._lose_incarnation(v_worker.incarnation_id, v_at);
    PERFORM weft._settle_commands(v_at);
    RETURN true;
END $$;
