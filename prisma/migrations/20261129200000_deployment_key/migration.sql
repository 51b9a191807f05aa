-- The name of the API key with which a deployment was asked for; null: a person asked, or a release without this column wrote it.
ALTER TABLE deployments ADD COLUMN api_key_name text;
