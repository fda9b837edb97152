-- Length of the chain of throws that led to a kept event.
ALTER TABLE case_events ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
