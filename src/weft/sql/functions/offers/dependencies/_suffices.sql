-- _suffices: whether it is enough for this need that the parent ended without success; of a share, unless too
--   many did.
-- Plan: attempts by key, if the parent was to begin and nobody told of it.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._suffices(need smallint, of_batch_id bigint, of_parent int) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT need IS NOT NULL
        AND (
            need <> NEED_START
                OR EXISTS (
                    SELECT
                    FROM weft.attempt a
                    WHERE a.batch_id = of_batch_id AND a.job_id = of_parent AND a.started_at IS NOT NULL
                )
        )
$$;
