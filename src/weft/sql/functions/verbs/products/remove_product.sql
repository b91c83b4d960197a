-- remove_product: forget a product.
-- Safe to repeat: yes.
-- Locks: product.
-- Plan: by key.
-- Returns: whether the caller saw it.
-- Raises WF130.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.remove_product(tenant_id int, product_id bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_product weft.product;
    v_permission int;
BEGIN
    SELECT *
    INTO v_product
    FROM weft.product p
    WHERE p.product_id = remove_product.product_id AND p.kept_at IS NOT NULL
    FOR UPDATE;
    v_permission := weft._permission(v_product.batch_id, v_product.user_id, v_product.project_id);
    IF v_product.product_id IS NULL OR v_permission = 0 THEN
        RETURN false;
    END IF;
    PERFORM weft._check_permission(
        v_product.batch_id, v_permission, 'the products of batch b' || v_product.batch_id
    );
    DELETE FROM weft.product p WHERE p.product_id = remove_product.product_id;
    RETURN true;
END $$;
