-- Text that sorts, by bytes, as semantic versions do: the number of digits before each number, releases after prereleases, and
-- a prerelease with fewer identifiers before one that continues it. Its input is MAJOR.MINOR.PATCH[-pre].
CREATE FUNCTION "version_precedence"("version" text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT
    (SELECT string_agg(lpad(length(number)::text, 3, '0') || number, '.' ORDER BY place)
     FROM unnest(string_to_array(split_part(version, '-', 1), '.')) WITH ORDINALITY AS numbers (number, place))
    || CASE WHEN strpos(version, '-') = 0 THEN '~' ELSE
      (SELECT string_agg(
         CASE WHEN identifier ~ '^[0-9]+$' THEN '0' || lpad(length(identifier)::text, 3, '0') || identifier
              ELSE '1' || identifier END, ' ' ORDER BY place)
       FROM unnest(string_to_array(substr(version, strpos(version, '-') + 1), '.')) WITH ORDINALITY AS identifiers (identifier, place))
      END
$$;

-- The latest version of a source: the highest that is no prerelease.
CREATE INDEX "source_versions_latest" ON "source_versions" ("source_id", version_precedence("version") COLLATE "C" DESC)
  WHERE strpos("version", '-') = 0;

-- CreateIndex
CREATE INDEX "source_versions_source_id_created_at_idx" ON "source_versions"("source_id", "created_at" DESC);
