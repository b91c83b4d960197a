-- end_terms: take away limits and weights of users whose date has come; then the shares follow the weights.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, until it returns 0.
-- Locks: as _check_epoch; user; spend_limit; as weigh_users.
-- Plan: limits and users by an index of dates; as weigh_users.
-- Returns: how many rows.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.end_terms(
    epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_limits int;
    v_users int;
BEGIN
    UPDATE weft.tenant_user u SET weight = 1, weight_until = NULL WHERE u.weight_until <= end_terms.at;
    GET DIAGNOSTICS v_users = ROW_COUNT;
    UPDATE weft.spend_limit l
    SET amount_max = NULL, amount_soft_max = NULL, until = NULL, version = l.version + 1
    WHERE l.until <= end_terms.at;
    GET DIAGNOSTICS v_limits = ROW_COUNT;
    IF v_limits > 0 THEN
        PERFORM pg_notify('driver', 'spending');
    END IF;
    RETURN v_limits + v_users + weft.weigh_users(end_terms.epoch, end_terms.limit_jobs);
END $$;
