DROP INDEX runs_of_active;
DROP INDEX runs_of_correlation;
DROP INDEX runs_by_business_key;
DROP INDEX runs_by_starter;
DROP INDEX runs_of_incidents_by_state;
DROP INDEX runs_of_incidents;
DROP INDEX runs_of_state;
DROP INDEX runs_by_creation;
