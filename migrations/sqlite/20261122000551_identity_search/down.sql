ALTER TABLE organizations DROP COLUMN search;
ALTER TABLE roles DROP COLUMN search;
