DROP INDEX audit_events_by_actor;
DROP INDEX audit_events_by_action;
