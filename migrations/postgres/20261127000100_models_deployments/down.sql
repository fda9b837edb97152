DROP TABLE model_fallbacks;
DROP TABLE model_deployments;
DROP TABLE model_catalogue;
DROP TABLE model_keys;
DROP TABLE model_connections;
DROP TABLE model_heads;
