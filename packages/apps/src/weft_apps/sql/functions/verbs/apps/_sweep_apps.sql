-- _sweep_apps: remove contents of applications that are no longer those of new jobs and that no batch runs,
--   and parts that belong to none.
-- Safe to repeat: yes.
-- For: save_app, remove_app: who changes applications pays for it.
-- Locks: app (SKIP LOCKED).
-- Plan: contents that are removed, and parts of the tenant.
-- They stay for an hour, and parts for a day: somebody may be submitting, or sending the rest.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sweep_apps(of_tenant_id int, at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.app_revision r
    WHERE r.revision_id = ANY (
        ARRAY(
            SELECT x.revision_id
            FROM weft.app_revision x
            WHERE x.tenant_id = of_tenant_id
                AND x.removed_at < at - interval '1 hour'
                AND NOT EXISTS (SELECT FROM weft.app_use u WHERE u.revision_id = x.revision_id)
            ORDER BY x.revision_id
            FOR UPDATE SKIP LOCKED
        )
    );
    DELETE FROM weft.app_part p
    WHERE p.ctid = ANY (
        ARRAY(
            SELECT x.ctid
            FROM weft.app_part x
            WHERE x.tenant_id = of_tenant_id
                AND x.added_at < at - interval '1 day'
                AND NOT EXISTS (
                    SELECT FROM weft.app_revision r WHERE r.tenant_id = x.tenant_id AND r.digest = x.digest
                )
            FOR UPDATE SKIP LOCKED
        )
    );
END $$;
