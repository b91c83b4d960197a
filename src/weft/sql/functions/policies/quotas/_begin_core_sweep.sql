-- _begin_core_sweep: let the driver give the gates of a first quota of cores to the jobs that are there; or,
--   if the quota has gone meanwhile, show again what it has hidden.
-- Safe to repeat: yes.
-- Locks: core_sweep.
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._begin_core_sweep(of_tenant_id int, of_user_id int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM weft.quota q
        WHERE q.tenant_id = of_tenant_id AND q.user_id = of_user_id AND q.cores_max_m IS NOT NULL
    ) THEN
        INSERT INTO weft.core_sweep AS s (tenant_id, user_id)
        VALUES (of_tenant_id, of_user_id)
        ON CONFLICT (tenant_id, user_id) DO UPDATE
        SET pass = 'hide', next_batch = 0, last_job = 0, done_at = NULL
        WHERE s.pass = 'show';
    ELSE
        DELETE FROM weft.core_sweep s
        WHERE s.tenant_id = of_tenant_id AND s.user_id = of_user_id AND s.done_at IS NOT NULL;
        -- The last step of the sweep, which holds no lock of quotas, may have ended since.
        UPDATE weft.core_sweep s
        SET pass = 'show', next_batch = 0, last_job = 0, done_at = NULL
        WHERE s.tenant_id = of_tenant_id AND s.user_id = of_user_id AND s.pass <> 'show';
    END IF;
    IF EXISTS (
        SELECT
        FROM weft.core_sweep s
        WHERE s.tenant_id = of_tenant_id AND s.user_id = of_user_id AND s.done_at IS NULL
    ) THEN
        PERFORM pg_notify('driver', 'gates');
    END IF;
END $$;
