-- What makes names unique beside their exact text: without differences of case, composition and invisible characters. TypeScript
-- computes the key (nameKey in packages/domain). It is null for a record of the release before, until the migrations or the start of a gateway
-- have filled it, and for a record whose name has the key of an older one.
ALTER TABLE "tenants" ADD COLUMN "name_key" TEXT;
ALTER TABLE "environments" ADD COLUMN "name_key" TEXT;
ALTER TABLE "targets" ADD COLUMN "name_key" TEXT;
ALTER TABLE "sources" ADD COLUMN "name_key" TEXT;
ALTER TABLE "freezes" ADD COLUMN "name_key" TEXT;
ALTER TABLE "roles" ADD COLUMN "name_key" TEXT;
ALTER TABLE "users" ADD COLUMN "name_key" TEXT;
ALTER TABLE "instances" ADD COLUMN "name_key" TEXT;

CREATE UNIQUE INDEX "tenants_name_key_unique" ON "tenants" ("name_key") WHERE "name_key" IS NOT NULL;
CREATE UNIQUE INDEX "environments_name_key_unique" ON "environments" ("tenant_id", "name_key") NULLS NOT DISTINCT
  WHERE "name_key" IS NOT NULL;
CREATE UNIQUE INDEX "targets_name_key_unique" ON "targets" ("tenant_id", "name_key") NULLS NOT DISTINCT
  WHERE "name_key" IS NOT NULL;
CREATE UNIQUE INDEX "sources_name_key_unique" ON "sources" ("kind", "tenant_id", "name_key") NULLS NOT DISTINCT
  WHERE "name_key" IS NOT NULL;
CREATE UNIQUE INDEX "freezes_name_key_unique" ON "freezes" ("tenant_id", "name_key") NULLS NOT DISTINCT
  WHERE "name_key" IS NOT NULL;
CREATE UNIQUE INDEX "roles_name_key_unique" ON "roles" ("name_key") WHERE "name_key" IS NOT NULL;
CREATE UNIQUE INDEX "users_name_key_unique" ON "users" ("name_key") WHERE "name_key" IS NOT NULL;
CREATE UNIQUE INDEX "instances_name_key_unique" ON "instances" ("name_key") WHERE "name_key" IS NOT NULL;
