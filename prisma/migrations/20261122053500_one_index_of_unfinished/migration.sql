-- What has not ended is found by "deployments_running_by_tenant" as well, and each deployment wrote both.
DROP INDEX "deployments_unfinished";
