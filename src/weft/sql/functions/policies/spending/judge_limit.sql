-- judge_limit: store how far a limit is used, and whether it is near its end, as the driver has decided.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; spend_limit. Whoever makes jobs ready in a limited project or for a limited user
--   shares it, so that after the commit each of its batches is either seen, or sees the stage.
-- Plan: by key.
-- Returns: false: the limit was changed meanwhile; look again.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.judge_limit(epoch bigint, limit_id int, version int, stage text, near boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.spend_limit l
    SET
        judged_version = judge_limit.version,
        stage = judge_limit.stage,
        near = judge_limit.near,
        applied_at = NULL
    WHERE l.limit_id = judge_limit.limit_id AND l.version = judge_limit.version;
    RETURN FOUND;
END $$;
