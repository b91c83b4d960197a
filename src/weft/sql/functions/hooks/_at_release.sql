-- _at_release: what follows when a person has released jobs, or a group, of a batch.
-- Safe to repeat: yes.   Plan: as _ask_to_admit.   For: release_group, release_jobs, before they announce.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._at_release(of_batch_id bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._ask_to_admit(of_batch_id);
END $$;
