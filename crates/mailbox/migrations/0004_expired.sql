-- Letters that became too old are lost to those devices alone that did not have them.

BEGIN IMMEDIATE;

ALTER TABLE device ADD COLUMN expired INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN expired_at INTEGER;

PRAGMA user_version = 4;
COMMIT;
