-- What was last found at a target, by sending or by looking whether somebody listens there. `down_since` is apart from
-- it: since when deliveries are held up.

BEGIN IMMEDIATE;

ALTER TABLE target ADD COLUMN answered_at INTEGER;  -- when somebody was last seen to answer
ALTER TABLE target ADD COLUMN silent_since INTEGER; -- since when nobody answers; null: somebody does, or nobody looked
ALTER TABLE target ADD COLUMN silent_why INTEGER;
ALTER TABLE target ADD COLUMN silent_error TEXT;

UPDATE target SET silent_since = down_since, silent_error = coalesce(down_error, 'nobody answers'),
    silent_why = CASE
        WHEN down_error LIKE '%connection refused%' THEN 0
        WHEN down_error LIKE '%does not resolve%' THEN 1
        WHEN down_error LIKE '%no route%' THEN 2
        ELSE 5 END
    WHERE down_since IS NOT NULL;

PRAGMA user_version = 12;
COMMIT;
