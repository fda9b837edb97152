DROP TABLE webhook_deliveries;
DROP TABLE webhooks;
DROP TABLE connection_keys;
DROP TABLE connection_secrets;
DROP TABLE connections;
