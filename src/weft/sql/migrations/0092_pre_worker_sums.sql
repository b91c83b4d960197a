-- How many workers live in each pool, and what they have: what a page shows of a fleet is read from few rows. Each incarnation adds a row
-- when it begins and when it ends, without a lock, so that the rows of a pool together are exact in every snapshot.
CREATE TABLE weft.worker_sum (
    pool_id int NOT NULL,
    n_workers bigint NOT NULL,
    cpu_m bigint NOT NULL,
    memory_mib bigint NOT NULL
);
GRANT SELECT, INSERT, DELETE ON weft.worker_sum TO weft_system;

CREATE FUNCTION weft._count_worker() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_sign int := CASE WHEN NEW.ended_at IS NULL THEN 1 ELSE -1 END;
BEGIN
    INSERT INTO weft.worker_sum (pool_id, n_workers, cpu_m, memory_mib)
    VALUES (NEW.pool_id, v_sign, v_sign * NEW.cpu_m, v_sign * NEW.memory_mib);
    RETURN NULL;
END $$;
CREATE TRIGGER worker_begins AFTER INSERT ON weft.worker_incarnation FOR EACH ROW WHEN (NEW.ended_at IS NULL)
    EXECUTE FUNCTION weft._count_worker();
CREATE TRIGGER worker_ends AFTER UPDATE OF ended_at ON weft.worker_incarnation FOR EACH ROW
    WHEN ((OLD.ended_at IS NULL) <> (NEW.ended_at IS NULL)) EXECUTE FUNCTION weft._count_worker();

INSERT INTO weft.worker_sum
SELECT i.pool_id, count(*), sum(i.cpu_m), sum(i.memory_mib) FROM weft.worker_incarnation i WHERE i.ended_at IS NULL GROUP BY 1;

CREATE INDEX worker_set_aside_idx ON weft.worker (name, worker_id) WHERE cordon_reason IS NOT NULL AND deleted_at IS NULL;
