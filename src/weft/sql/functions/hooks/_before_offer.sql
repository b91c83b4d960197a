-- _before_offer: which of these jobs are parked instead of offered, because a policy ends them soon.
-- Safe to repeat: yes.   Locks: job (by the caller); deadline (nobody else).
-- Plan: the first deadline of each batch by key; as _park_late, if there is one.
-- Returns: their places in the arrays; NULL: none.   Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._before_offer(batch_ids bigint[], job_ids int[], states smallint[], at timestamptz) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM unnest(batch_ids) x JOIN weft.job_deadline d ON d.batch_id = x) THEN
        RETURN weft._park_late(batch_ids, job_ids, states, _before_offer.at);
    END IF;
    RETURN NULL;
END $$;
