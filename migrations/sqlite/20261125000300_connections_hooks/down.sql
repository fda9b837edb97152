DROP TABLE hook_secrets;
DROP TABLE hooks;
