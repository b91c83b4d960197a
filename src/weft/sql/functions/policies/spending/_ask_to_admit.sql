-- _ask_to_admit: let the driver look whether jobs that a person has released fit below limits that are near: nothing else may wake it.
-- Safe to repeat: yes.   Plan: holds by key.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._ask_to_admit(of_batch_id bigint) RETURNS void LANGUAGE sql AS $$
    SELECT pg_notify('driver', 'spending')
    WHERE EXISTS (SELECT FROM weft.group_hold h WHERE h.batch_id = of_batch_id AND h.admits AND h.released_at IS NULL)
$$;
