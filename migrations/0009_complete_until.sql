-- Up to when everything was here that a tunnel's relay received: what comes later can't be older.

BEGIN IMMEDIATE;

ALTER TABLE tunnel ADD COLUMN complete_until INTEGER;                    -- null: not known

PRAGMA user_version = 9;
COMMIT;
