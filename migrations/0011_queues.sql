-- What a target gets next is found at once, however much waits: what is ready, what waits for a retry, and for
-- `fifo-by-key` the deliveries of one key, each in an index of its own.
--
-- From here on `due_at` is store time (`clock` in meta). A claim has no lease: it belongs to the process that has the
-- owner's lock, and what is claimed when a process takes that lock was cut off.

BEGIN IMMEDIATE;

-- When an event was stored, in store time: what it ages by. Null: an earlier version stored it. Lists don't read it.
ALTER TABLE event ADD COLUMN stored_at INTEGER;

-- When it was claimed, by the wall clock; null unless state is 1.
ALTER TABLE delivery RENAME COLUMN lease_until TO claimed_at;
UPDATE delivery SET claimed_at = claimed_at - 60000000 WHERE state IN (0, 1) AND state = 1;

ALTER TABLE delivery ADD COLUMN order_key TEXT;                          -- source and object; null: in nobody's way
ALTER TABLE delivery ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0;      -- another of its key comes first
ALTER TABLE target ADD COLUMN by_key INTEGER NOT NULL DEFAULT 0;         -- its order is fifo-by-key

DROP INDEX delivery_waiting;
CREATE INDEX delivery_waiting ON delivery (target, event, number, state) WHERE state IN (0, 1);
CREATE INDEX delivery_claimed ON delivery (target) WHERE state = 1;
CREATE INDEX delivery_ready ON delivery (target, event, number)
    WHERE state = 0 AND due_at IS NULL AND blocked = 0;
CREATE INDEX delivery_retry ON delivery (target, due_at) WHERE state = 0 AND due_at IS NOT NULL;
CREATE INDEX delivery_keyed ON delivery (target, order_key, event, number)
    WHERE state IN (0, 1) AND order_key IS NOT NULL;
CREATE INDEX delivery_blocked ON delivery (target, event, number) WHERE blocked = 1;

-- What comes into the queue of a target that orders by key. Behind others of its key it is blocked.
CREATE TRIGGER delivery_comes AFTER INSERT ON delivery
WHEN NEW.state = 0 AND NEW.replay = 0 AND (SELECT by_key FROM target WHERE id = NEW.target)
BEGIN
    UPDATE delivery SET order_key = (SELECT source || ':' || object FROM event WHERE seq = NEW.event)
    WHERE event = NEW.event AND number = NEW.number;
    UPDATE delivery SET blocked = 1
    WHERE event = NEW.event AND number = NEW.number AND order_key IS NOT NULL AND EXISTS (
        SELECT 1 FROM delivery b WHERE b.target = NEW.target AND b.order_key = delivery.order_key
        AND b.state IN (0, 1) AND (b.event, b.number) <> (NEW.event, NEW.number));
END;

-- What comes back into it. Whoever claims looks whether another is under way.
CREATE TRIGGER delivery_comes_back AFTER UPDATE OF state ON delivery
WHEN NEW.state = 0 AND OLD.state > 1 AND NEW.replay = 0 AND (SELECT by_key FROM target WHERE id = NEW.target)
BEGIN
    UPDATE delivery SET blocked = 0,
        order_key = (SELECT source || ':' || object FROM event WHERE seq = NEW.event)
    WHERE event = NEW.event AND number = NEW.number;
END;

-- Whoever ends an attempt, or leaves the queue, makes room for the first of its key.
CREATE TRIGGER delivery_goes AFTER UPDATE OF state ON delivery
WHEN OLD.order_key IS NOT NULL AND (OLD.state = 1 AND NEW.state = 0 OR OLD.state < 2 AND NEW.state > 1)
BEGIN
    UPDATE delivery SET blocked = 0 WHERE blocked = 1 AND (event, number) = (
        SELECT event, number FROM delivery WHERE target = OLD.target AND order_key = OLD.order_key
        AND state IN (0, 1) AND order_key IS NOT NULL ORDER BY event, number LIMIT 1);
    UPDATE delivery SET blocked = 0 WHERE event = NEW.event AND number = NEW.number AND NEW.state > 1;
END;

UPDATE target SET by_key = 1 WHERE settings ->> '$.order' = 'fifo-by-key';
UPDATE delivery SET order_key = (SELECT source || ':' || object FROM event WHERE seq = delivery.event)
WHERE state IN (0, 1) AND replay = 0 AND target IN (SELECT id FROM target WHERE by_key);
UPDATE delivery SET blocked = 1 WHERE state = 0 AND order_key IS NOT NULL AND EXISTS (
    SELECT 1 FROM delivery b WHERE b.target = delivery.target AND b.order_key = delivery.order_key
    AND b.state IN (0, 1) AND b.order_key IS NOT NULL AND (b.event, b.number) < (delivery.event, delivery.number));

PRAGMA user_version = 11;
COMMIT;
