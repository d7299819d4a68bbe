-- What came through a tunnel and could not be read: it is gone, and that is not forgotten.

BEGIN IMMEDIATE;

ALTER TABLE tunnel ADD COLUMN spoilt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tunnel ADD COLUMN spoilt_at INTEGER;

PRAGMA user_version = 5;
COMMIT;
