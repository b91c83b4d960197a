-- What a machine was made from: if its flavour is described otherwise by now, it goes when nothing runs there.
ALTER TABLE weft.machine ADD COLUMN template text;  -- as weft._template; NULL: not known, as of machines made before
