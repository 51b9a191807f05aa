-- CreateTable
CREATE TABLE "contents" (
    "id" TEXT NOT NULL,
    "size" BIGINT NOT NULL,
    "upload_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "uploaded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "content_uploads" (
    "id" UUID NOT NULL,
    "touched_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "content_uploads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "content_chunks" (
    "upload_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "content_chunks_pkey" PRIMARY KEY ("upload_id","number")
);

-- CreateTable
CREATE TABLE "content_uploaders" (
    "content_id" TEXT NOT NULL,
    "user_id" UUID NOT NULL,

    CONSTRAINT "content_uploaders_pkey" PRIMARY KEY ("content_id","user_id")
);

-- CreateTable
CREATE TABLE "source_contents" (
    "source_id" UUID NOT NULL,
    "version" TEXT NOT NULL,
    "content_id" TEXT NOT NULL,

    CONSTRAINT "source_contents_pkey" PRIMARY KEY ("source_id","version","content_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "contents_upload_id_key" ON "contents"("upload_id");

-- CreateIndex
CREATE INDEX "contents_uploaded_at_idx" ON "contents"("uploaded_at");

-- CreateIndex
CREATE INDEX "content_uploads_touched_at_idx" ON "content_uploads"("touched_at");

-- CreateIndex
CREATE INDEX "content_uploaders_user_id_idx" ON "content_uploaders"("user_id");

-- CreateIndex
CREATE INDEX "source_contents_content_id_idx" ON "source_contents"("content_id");

-- AddForeignKey
ALTER TABLE "contents" ADD CONSTRAINT "contents_upload_id_fkey" FOREIGN KEY ("upload_id") REFERENCES "content_uploads"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "content_chunks" ADD CONSTRAINT "content_chunks_upload_id_fkey" FOREIGN KEY ("upload_id") REFERENCES "content_uploads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "content_uploaders" ADD CONSTRAINT "content_uploaders_content_id_fkey" FOREIGN KEY ("content_id") REFERENCES "contents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "content_uploaders" ADD CONSTRAINT "content_uploaders_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "source_contents" ADD CONSTRAINT "source_contents_source_id_version_fkey" FOREIGN KEY ("source_id", "version") REFERENCES "source_versions"("source_id", "version") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "source_contents" ADD CONSTRAINT "source_contents_content_id_fkey" FOREIGN KEY ("content_id") REFERENCES "contents"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Most of it is compressed already.
ALTER TABLE "content_chunks" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;

-- Content has no tenant: it is seen by whoever sees a source that uses it, or somebody who brought it. The store alone,
-- which acts for all tenants, writes it.
ALTER TABLE "source_contents" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "source_contents" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_source"("source_id"));
ALTER TABLE "content_uploaders" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "content_uploaders" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_user"("user_id"));

CREATE FUNCTION "sees_content"("record" text) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM source_contents WHERE content_id = record)
    OR EXISTS (SELECT FROM content_uploaders WHERE content_id = record);
END $$;
CREATE FUNCTION "sees_upload"("record" uuid) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM contents WHERE upload_id = record);
END $$;

ALTER TABLE "contents" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "store" ON "contents" USING ((SELECT current_setting('slipway.tenant', true)) = '*');
CREATE POLICY "tenant" ON "contents" FOR SELECT USING ("sees_content"("id"));
ALTER TABLE "content_uploads" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "store" ON "content_uploads" USING ((SELECT current_setting('slipway.tenant', true)) = '*');
ALTER TABLE "content_chunks" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "store" ON "content_chunks" USING ((SELECT current_setting('slipway.tenant', true)) = '*');
CREATE POLICY "tenant" ON "content_chunks" FOR SELECT USING ("sees_upload"("upload_id"));
