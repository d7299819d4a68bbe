-- Earlier versions let events own dedupe keys that prove nothing. How far those were looked through; no row: all were.

BEGIN IMMEDIATE;

INSERT INTO meta VALUES ('keys_settled', 0);

PRAGMA user_version = 8;
COMMIT;
