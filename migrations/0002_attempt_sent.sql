-- Whether an attempt went out: one that failed before, as by TLS, can't have been acted on.

BEGIN IMMEDIATE;

ALTER TABLE attempt ADD COLUMN sent INTEGER NOT NULL DEFAULT 1;

PRAGMA user_version = 2;
COMMIT;
