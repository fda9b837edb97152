-- Instances that did not take an event while others did, with the reason; null where there are none
ALTER TABLE case_events ADD COLUMN refused BLOB;
