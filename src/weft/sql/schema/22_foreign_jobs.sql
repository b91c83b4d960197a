-- Jobs that came through a door with ids of its own: how many there are, and how they ended.

-- The number of those that lists show is the sum of these rows, at any moment: each that comes, goes or is
-- hidden adds a row, and now and then one that comes makes one of many (_count_foreign).
CREATE TABLE weft.foreign_count (
    tenant_id int NOT NULL,
    door text NOT NULL,
    user_id int NOT NULL,  -- of the batch
    n bigint NOT NULL
);
CREATE INDEX foreign_count_door_idx ON weft.foreign_count (tenant_id, door);

CREATE FUNCTION weft._note_foreign() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._count_foreign(NEW, CASE WHEN TG_OP = 'INSERT' OR (NEW.deleted_at IS NULL AND NOT NEW.hidden) THEN 1 ELSE -1 END);
    RETURN NULL;
END $$;
CREATE TRIGGER foreign_job_comes AFTER INSERT ON weft.batch FOR EACH ROW
    WHEN (new.foreign_id IS NOT NULL AND new.deleted_at IS NULL AND NOT new.hidden)
    EXECUTE FUNCTION weft._note_foreign();
CREATE TRIGGER foreign_job_is_shown AFTER UPDATE OF deleted_at, hidden ON weft.batch FOR EACH ROW
    WHEN (new.foreign_id IS NOT NULL
        AND (old.deleted_at IS NULL AND NOT old.hidden) <> (new.deleted_at IS NULL AND NOT new.hidden))
    EXECUTE FUNCTION weft._note_foreign();

-- Those whose batches are complete, as of the last completion: one that was retried since is open as well. Of the
-- batches of /v1 there are none.
CREATE TABLE weft.foreign_end (
    batch_id bigint PRIMARY KEY,
    tenant_id int NOT NULL,
    user_id int NOT NULL,  -- of the batch
    door text NOT NULL,
    state smallint NOT NULL,  -- of its job; ENDED_ELSEWHERE (0): it has none, another system has run it
    ended_at timestamptz NOT NULL
);
-- With the tenant, so that its wall needs no row.
CREATE INDEX foreign_end_door_idx ON weft.foreign_end (tenant_id, door, state, ended_at, batch_id);
CREATE INDEX foreign_end_user_idx ON weft.foreign_end (tenant_id, user_id, door, state, ended_at, batch_id);
