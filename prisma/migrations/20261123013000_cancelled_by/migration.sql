-- The name of the user who cancelled the deployment. Before, only the history and the audit log held it.
ALTER TABLE "deployments" ADD COLUMN "cancelled_by" TEXT;
