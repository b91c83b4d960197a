-- _at_release: what follows when a person has released jobs, or a group, of a batch.
-- Safe to repeat: yes.
-- Plan: holds by key.
-- For: release_group, release_jobs, before they announce.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._at_release(of_batch_id bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- Those that fit below limits which are near: nothing else may wake the driver.
    PERFORM pg_notify('driver', 'spending')
    WHERE EXISTS (
        SELECT FROM weft.group_hold h WHERE h.batch_id = of_batch_id AND h.admits AND h.released_at IS NULL
    );
END $$;
