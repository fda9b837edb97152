-- What a period cost stands in the sums: kept twice, it missed what was spent while there was no budget
ALTER TABLE model_budgets DROP COLUMN spent_micros;
ALTER TABLE model_budgets DROP COLUMN spent_tokens;

-- A call that needs an ability which its deployment doesn't have is refused. These types never tell whether a model calls tools
UPDATE model_deployments SET capabilities = capabilities || 'tools,'
WHERE capabilities LIKE '%,chat,%' AND capabilities NOT LIKE '%,tools,%'
    AND EXISTS (
        SELECT 1 FROM model_connections
        WHERE model_connections.organization_id = model_deployments.organization_id
            AND model_connections.id = model_deployments.connection_id
            AND model_connections.kind IN ('llama-cpp', 'lm-studio', 'localai', 'litellm', 'vllm')
    );
-- Nor do these whether it reads images
UPDATE model_deployments SET capabilities = capabilities || 'vision,'
WHERE capabilities LIKE '%,chat,%' AND capabilities NOT LIKE '%,vision,%'
    AND EXISTS (
        SELECT 1 FROM model_connections
        WHERE model_connections.organization_id = model_deployments.organization_id
            AND model_connections.id = model_deployments.connection_id
            AND model_connections.kind IN ('localai', 'litellm', 'vllm')
    );
