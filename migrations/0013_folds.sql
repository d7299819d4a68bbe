-- Lists can fold repeats away beneath their first event: those that were recognised by their id, and of which nothing was
-- sent. Bit 16 of `flags` marks them. A list's candidates come from the indexes below, however many lie in between.

BEGIN IMMEDIATE;

-- A repeat points at an event that repeats no other. Earlier versions left some that pointed at a repeat.
UPDATE event SET duplicate_of = (SELECT f.duplicate_of FROM event f WHERE f.id = event.duplicate_of)
WHERE duplicate_of IS NOT NULL AND EXISTS
    (SELECT 1 FROM event f WHERE f.id = event.duplicate_of AND f.duplicate_of IS NOT NULL);

UPDATE event SET flags = flags | 16
WHERE duplicate_of IS NOT NULL AND dedupe_key LIKE 'id:%' AND verdict NOT IN (1, 5) AND NOT flags & 1
    AND NOT EXISTS (SELECT 1 FROM delivery WHERE event = event.seq AND state <> 5);

CREATE INDEX event_listed ON event (seq) WHERE NOT flags & 16;
DROP INDEX event_source;
CREATE INDEX event_source ON event (source, seq, flags);

PRAGMA user_version = 13;
COMMIT;
