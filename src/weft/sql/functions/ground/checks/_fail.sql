-- _fail: raise the error with this code, which the store turns into its class (weft.store.errors).
-- Safe to repeat: yes.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._fail(code text, message text, detail text, hint text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION
        USING ERRCODE = _fail.code,
        MESSAGE = _fail.message,
        DETAIL = _fail.detail,
        HINT = _fail.hint;
END $$;
