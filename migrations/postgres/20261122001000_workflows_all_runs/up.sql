-- Indexes of the list over all workflows of an organisation: in its order, behind what it is filtered by
CREATE INDEX runs_by_creation ON runs (organization_id, created_at, id);
CREATE INDEX runs_of_state ON runs (organization_id, state, created_at, id);
CREATE INDEX runs_of_incidents ON runs (organization_id, created_at, id) WHERE has_incident;
CREATE INDEX runs_of_incidents_by_state ON runs (organization_id, state, created_at, id) WHERE has_incident;
CREATE INDEX runs_by_starter ON runs (organization_id, created_by, created_at, id) WHERE created_by IS NOT NULL;
CREATE INDEX runs_by_business_key ON runs (organization_id, business_key, created_at, id)
    WHERE business_key IS NOT NULL;
CREATE INDEX runs_of_correlation ON runs (organization_id, correlation_key, created_at, id)
    WHERE correlation_key IS NOT NULL;
-- Those of which it is asked at which node they stand
CREATE INDEX runs_of_active ON runs (organization_id, created_at, id) WHERE ended_at IS NULL;
