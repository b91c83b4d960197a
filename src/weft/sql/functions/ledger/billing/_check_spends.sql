-- _check_spends: raise WF105 unless jobs of a batch may be added or run again for a user: the user or the
--   owner of the batch is a member of its billing project. Jobs that run already finish.
-- Plan: batch, project and members by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._check_spends(of_batch_id bigint, of_user_id int) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_batch record;
BEGIN
    SELECT p.name AS project, u.name AS owner
    INTO v_batch
    FROM weft.batch b
    JOIN weft.billing_project p
    USING (project_id)
    JOIN weft.tenant_user u ON u.user_id = b.user_id
    WHERE b.batch_id = of_batch_id
        AND NOT EXISTS (
            SELECT
            FROM weft.billing_member m
            WHERE m.project_id = b.project_id AND m.user_id IN (b.user_id, of_user_id)
        );
    IF FOUND THEN
        PERFORM weft._fail(
            'WF105',
            format('billing project "%s" does not pay for more of batch b%s', v_batch.project, of_batch_id),
            format('Neither you nor its owner, %s, is a member of the project any more.', v_batch.owner),
            'Submit the jobs to another billing project (`weft billing` lists yours), or ask an administrator to add you.'
        );
    END IF;
END $$;
