-- Jobs that came through a door with ids of its own: how many there are, and how they ended.

-- The number of those that lists show, and of those that ended so, is a sum of these rows, at any moment:
-- each that comes, goes, is hidden or ends adds a row, and now and then one of them makes one of many
-- (_count_foreign).
CREATE TABLE weft.foreign_count (
    tenant_id int NOT NULL,
    door text NOT NULL,
    user_id int NOT NULL,  -- of the batch
    state smallint,  -- in foreign_state; NULL: of those that lists show
    n bigint NOT NULL
);
CREATE INDEX foreign_count_door_idx ON weft.foreign_count (tenant_id, door);

CREATE FUNCTION weft._note_foreign() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._count_foreign(
        NEW.tenant_id,
        NEW.door,
        NEW.user_id,
        NULL,
        CASE WHEN TG_OP = 'INSERT' OR (NEW.deleted_at IS NULL AND NOT NEW.hidden) THEN 1 ELSE -1 END
    );
    RETURN NULL;
END $$;
CREATE TRIGGER foreign_job_comes AFTER INSERT ON weft.batch FOR EACH ROW
    WHEN (new.foreign_id IS NOT NULL AND new.deleted_at IS NULL AND NOT new.hidden)
    EXECUTE FUNCTION weft._note_foreign();
CREATE TRIGGER foreign_job_is_shown AFTER UPDATE OF deleted_at, hidden ON weft.batch FOR EACH ROW WHEN (
    new.foreign_id IS NOT NULL
        AND (old.deleted_at IS NULL AND NOT old.hidden) <> (new.deleted_at IS NULL AND NOT new.hidden)
) EXECUTE FUNCTION weft._note_foreign();

-- Their states, as of the last fold. Of the batches of /v1 there are none.
CREATE TABLE weft.foreign_state (
    batch_id bigint PRIMARY KEY,
    tenant_id int NOT NULL,
    user_id int NOT NULL,  -- of the batch
    door text NOT NULL,
    state smallint NOT NULL,  -- of its job; ENDED_ELSEWHERE (-1): it has none, another system has run it
    changed_at timestamptz NOT NULL
);
-- With the tenant, so that its wall needs no row.
CREATE INDEX foreign_state_door_idx ON weft.foreign_state (tenant_id, door, state, changed_at, batch_id);
CREATE INDEX foreign_state_user_idx
    ON weft.foreign_state (tenant_id, user_id, door, state, changed_at, batch_id);
CREATE FUNCTION weft._note_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._count_foreign((v.e).tenant_id, (v.e).door, (v.e).user_id, (v.e).state, v.by)
    FROM (VALUES (OLD, -1), (NEW, 1)) v (e, by)
    WHERE (v.e).batch_id IS NOT NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER foreign_job_changes AFTER INSERT OR UPDATE OF state OR DELETE ON weft.foreign_state
    FOR EACH ROW EXECUTE FUNCTION weft._note_state();
