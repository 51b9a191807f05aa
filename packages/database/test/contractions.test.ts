import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
// @ts-expect-error: a script, which has no types
import { findings, releasesIn } from '../scripts/contractions.mjs'

const check = (sql: string): string[] => findings('m', sql, ['0.2.0'])

describe('a migration is refused when it', () => {
  test.each([
    ['drops a table', 'DROP TABLE targets;'],
    ['drops a column', 'ALTER TABLE "targets" DROP COLUMN IF EXISTS "host";'],
    ['drops a column', 'alter table only public.targets\n  add column a int,\n  drop host'],
    ['drops a view', 'DROP VIEW IF EXISTS v CASCADE;'],
    ['drops a function', 'DROP FUNCTION fold(integer, text);'],
    ['drops a policy', 'DROP POLICY p ON targets;'],
    ['renames', 'ALTER TABLE targets RENAME COLUMN host TO address;'],
    ['renames', 'ALTER TABLE targets RENAME host TO address;'],
    ['renames', 'ALTER TABLE targets RENAME TO hosts;'],
    ['renames', "ALTER TYPE state RENAME VALUE 'failed' TO 'broken';"],
    ['changes the type', 'ALTER TABLE targets ALTER COLUMN port TYPE bigint USING port::bigint;'],
    ['changes the type', 'ALTER TABLE targets ALTER port SET DATA TYPE bigint;'],
    ['demands a value', 'ALTER TABLE targets ALTER COLUMN host SET NOT NULL;'],
    ['takes away a default', 'ALTER TABLE targets ALTER COLUMN host DROP DEFAULT;'],
    ['must have a value', 'ALTER TABLE targets ADD COLUMN "kind" text NOT NULL;'],
    ['must have a value', 'ALTER TABLE targets ADD kind numeric(10, 2) NOT NULL, ADD b int;'],
    ['adds a constraint', 'ALTER TABLE targets ADD CONSTRAINT c CHECK (port > 0);'],
    ['adds a constraint', 'CREATE UNIQUE INDEX CONCURRENTLY i ON targets (host);'],
    ['adds a constraint', 'CREATE UNIQUE INDEX i ON targets (host) WHERE host IS NOT NULL;'],
    ['adds a constraint', 'ALTER TABLE targets ADD COLUMN key text; CREATE UNIQUE INDEX i ON targets (key, host);'],
    [
      'adds a constraint',
      "ALTER TABLE targets ADD COLUMN key text DEFAULT ''; CREATE UNIQUE INDEX i ON targets (key) WHERE key IS NOT NULL;",
    ],
    ['hides rows', 'ALTER TABLE targets FORCE ROW LEVEL SECURITY;'],
    ['takes away a right', 'REVOKE INSERT ON targets FROM slipway;'],
    ['DO block', "DO $$ BEGIN EXECUTE 'ALTER TABLE targets DROP COLUMN host'; END $$;"],
    ['drops a table', "SELECT 'a; -- b'; /* c; */ DROP TABLE targets;"],
  ])('%s: %s', (words, sql) => {
    expect(check(sql)).toEqual([expect.stringMatching(new RegExp(`${words}.*is not marked`))])
  })
})

describe('a migration passes when it', () => {
  test.each([
    [
      'adds a column that may be left out',
      'ALTER TABLE targets ADD COLUMN host text, ADD port int NOT NULL DEFAULT 22;',
    ],
    ['adds a computed column', 'ALTER TABLE targets ADD n int NOT NULL GENERATED ALWAYS AS (port + 1) STORED;'],
    [
      'creates a table',
      'CREATE TABLE t (a int NOT NULL, UNIQUE (a)); CREATE UNIQUE INDEX i ON t (a); ALTER TABLE t FORCE ROW LEVEL SECURITY;',
    ],
    ['demands less', 'ALTER TABLE targets ALTER host DROP NOT NULL, DROP CONSTRAINT c; DROP INDEX i;'],
    [
      'creates again what it drops',
      'DROP VIEW v; CREATE VIEW v AS SELECT 1; DROP TRIGGER t ON targets; CREATE TRIGGER t AFTER INSERT ON targets EXECUTE FUNCTION f();',
    ],
    [
      'adds a unique index of a new column that the release before leaves empty',
      'ALTER TABLE "targets" ADD COLUMN "key" TEXT; CREATE UNIQUE INDEX "i" ON "targets" ("host", "key") WHERE "key" IS NOT NULL;',
    ],
    ['renames an index', 'ALTER INDEX i RENAME TO j;'],
    [
      'contains the words in a comment or a text',
      "COMMENT ON TABLE targets IS 'DROP TABLE targets;'; -- DROP TABLE targets;\nUPDATE targets SET host = 'ALTER TABLE x RENAME TO y;';",
    ],
    [
      'defines a function with such a statement',
      'CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $f$ BEGIN DROP TABLE x; END $f$;',
    ],
    [
      'is marked with a release',
      '-- The connection has it since 0.1.\n-- contracts: unused since 0.2.0\nALTER TABLE targets DROP COLUMN host;',
    ],
  ])('%s: %s', (_words, sql) => {
    expect(check(sql)).toEqual([])
  })
})

test('a mark covers only its own statement and must name a published release', () => {
  const marked = '-- contracts: unused since 0.2.0\nDROP TABLE a;\nDROP TABLE b;'
  expect(check(marked)).toEqual([expect.stringMatching(/^m:3: drops a table/)])
  expect(check('-- contracts: unused since 0.3.0\nDROP TABLE a;')).toEqual([
    expect.stringContaining('0.3.0, which is no release'),
  ])
  expect(check('-- contracts: nobody needs it\nDROP TABLE a;')).toEqual([
    expect.stringContaining('not: unused since X.Y.Z'),
  ])
  expect(releasesIn('# C\n## [Unreleased]\n## [0.2.0] - 2027-01-01\n## [0.1.0]\n')).toEqual(['0.2.0', '0.1.0'])
})

test('the script checks the migrations after the baseline, and exits with 1 if it has findings', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-migrations-'))
  const plant = (name: string, sql: string) => {
    fs.mkdirSync(path.join(folder, name))
    fs.writeFileSync(path.join(folder, name, 'migration.sql'), sql)
  }
  const run = () => {
    const script = path.resolve(import.meta.dirname, '../scripts/contractions.mjs')
    return spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  }
  try {
    plant('20261129000000_baseline', 'DROP TABLE a;')
    plant('20991231000000_more', 'ALTER TABLE a ADD b int;')
    expect(run()).toMatchObject({ status: 0, stdout: expect.stringContaining('1 migrations after the baseline') })
    plant('20991231000001_less', 'SELECT 1;\n\nDROP TABLE a;')
    expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('20991231000001_less:3: drops a table') })
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
