-- record_products: note the products that a live attempt names. Called before its end is reported, which
--   decides whether they are kept.
-- Safe to repeat: yes, what is there stays.
-- Locks: batch_row (once for a batch).
-- Plan: the job by key.
-- Returns: whether this worker has the attempt.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.record_products(
    incarnation_id int, batch_id bigint, job_id int, attempt int, products jsonb[], inputs jsonb
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM
    FROM weft.job j
    WHERE j.batch_id = record_products.batch_id
        AND j.job_id = record_products.job_id
        AND j.attempt = record_products.attempt
        AND j.state = STATE_RUNNING
        AND j.incarnation_id = record_products.incarnation_id;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE weft.batch b
    SET has_products = true
    WHERE b.batch_id = record_products.batch_id AND NOT b.has_products;
    INSERT INTO weft.product (
        tenant_id, user_id, project_id, batch_id, job_id, attempt, line, document, inputs
    )
    SELECT
        b.tenant_id, b.user_id, b.project_id, b.batch_id, record_products.job_id, record_products.attempt,
        x.line, x.document, record_products.inputs
    FROM weft.batch b, unnest(record_products.products) WITH ORDINALITY x (document, line)
    WHERE b.batch_id = record_products.batch_id
    ORDER BY x.line
    ON CONFLICT DO NOTHING;
    RETURN true;
END $$;
