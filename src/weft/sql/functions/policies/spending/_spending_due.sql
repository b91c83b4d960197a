-- _spending_due: in how much time the driver must look at limits, if no notice tells: at once if one was changed, or if batches do not
--   agree with one; NULL: it need not.
-- Plan: limits, which are few.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._spending_due() RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT interval '0' FROM weft.spend_limit l WHERE l.applied_at IS NULL OR l.judged_version IS DISTINCT FROM l.version LIMIT 1
$$;
