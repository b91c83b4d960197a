-- How many machines each pool has by flavour and state, and sums from which follows what they cost since their costs were counted, at any
-- moment: what pages show of pools is read from few rows. Each statement on machines adds rows, without a lock, so that the rows of a pool
-- together are exact in every snapshot.
CREATE TABLE weft.machine_sum (
    pool_id int NOT NULL,
    flavour text NOT NULL,
    state text NOT NULL,
    n bigint NOT NULL,
    from_us numeric NOT NULL,  -- the sum of microseconds since 1970 of the moments from which costs are not counted yet
    price numeric NOT NULL,
    price_from numeric NOT NULL,  -- of products with from_us
    share numeric NOT NULL,  -- that jobs use
    share_from numeric NOT NULL,
    share_price numeric NOT NULL,
    share_price_from numeric NOT NULL
);
CREATE INDEX machine_sum_pool_idx ON weft.machine_sum (pool_id);
GRANT SELECT, INSERT, DELETE ON weft.machine_sum TO weft_system;

CREATE FUNCTION weft._sum_machines() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_added weft.machine[]; v_gone weft.machine[];
BEGIN
    IF TG_OP <> 'DELETE' THEN
        SELECT array_agg(ROW(t.*)::weft.machine) INTO v_added FROM new_rows t WHERE t.state <> 'deleted';
    END IF;
    IF TG_OP <> 'INSERT' THEN
        SELECT array_agg(ROW(t.*)::weft.machine) INTO v_gone FROM old_rows t WHERE t.state <> 'deleted';
    END IF;
    INSERT INTO weft.machine_sum
    SELECT y.pool_id, y.flavour, y.state, y.sums[1], y.sums[2], y.sums[3], y.sums[4], y.sums[5], y.sums[6], y.sums[7], y.sums[8] FROM (
        SELECT x.pool_id, x.flavour, x.state, ARRAY[sum(x.sign), sum(x.sign * x.us), sum(x.sign * x.price), sum(x.sign * x.price * x.us),
            sum(x.sign * x.share), sum(x.sign * x.share * x.us), sum(x.sign * x.share * x.price),
            sum(x.sign * x.share * x.price * x.us)] AS sums
        FROM (
            SELECT m.pool_id, m.flavour, m.state, s.sign::numeric, extract(epoch FROM coalesce(m.costs_from, m.created_at)) * 1000000 AS us,
                m.price_per_hour AS price, m.used_share::numeric AS share
            FROM (VALUES (1, v_added), (-1, v_gone)) s (sign, machines) CROSS JOIN LATERAL unnest(s.machines) m) x
        GROUP BY 1, 2, 3) y
    WHERE y.sums <> '{0,0,0,0,0,0,0,0}';
    RETURN NULL;
END $$;
CREATE TRIGGER machines_begin AFTER INSERT ON weft.machine REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION weft._sum_machines();
CREATE TRIGGER machines_change AFTER UPDATE ON weft.machine REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION weft._sum_machines();
CREATE TRIGGER machines_go AFTER DELETE ON weft.machine REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION weft._sum_machines();

INSERT INTO weft.machine_sum
SELECT x.pool_id, x.flavour, x.state, count(*), sum(x.us), sum(x.price), sum(x.price * x.us), sum(x.share), sum(x.share * x.us),
    sum(x.share * x.price), sum(x.share * x.price * x.us)
FROM (SELECT m.*, extract(epoch FROM coalesce(m.costs_from, m.created_at)) * 1000000 AS us, m.price_per_hour AS price,
          m.used_share::numeric AS share
      FROM weft.machine m WHERE m.state <> 'deleted') x GROUP BY 1, 2, 3;
