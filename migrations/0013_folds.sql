-- Lists can fold repeats away beneath their first event: those that were recognised by their id, that prove as much, and
-- that were skipped everywhere as repeats. Bit 16 of `flags` marks them. A list's candidates come from the indexes below, however many lie in between. A large
-- one from before stays a row of its own, because to mark it is to write it anew, with its body.

BEGIN IMMEDIATE;

-- A repeat points at an event that repeats no other. Earlier versions left some that pointed at a repeat.
UPDATE event SET duplicate_of = (SELECT f.duplicate_of FROM event f WHERE f.id = event.duplicate_of)
WHERE duplicate_of IS NOT NULL AND EXISTS
    (SELECT 1 FROM event f WHERE f.id = event.duplicate_of AND f.duplicate_of IS NOT NULL);

UPDATE event SET flags = flags | 16
WHERE duplicate_of IS NOT NULL AND dedupe_key LIKE 'id:%' AND verdict NOT IN (1, 5) AND NOT flags & 1
    AND (verdict = 0 OR verdict = (SELECT f.verdict FROM event f WHERE f.id = event.duplicate_of))
    AND size <= 65536
    AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event = event.seq
        AND (d.state <> 5 OR d.last_error IS NOT 'a duplicate of an event that this target has or gets'));

CREATE INDEX event_listed ON event (seq) WHERE NOT flags & 16;
DROP INDEX event_source;
CREATE INDEX event_source ON event (source, seq, flags);

PRAGMA user_version = 13;
COMMIT;
