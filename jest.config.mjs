// Run as `make test TESTS=path`. Three projects: `rules` and `golden` are `make test`, `release` is what `make test-all` adds.
import { execFileSync } from 'node:child_process'

// Tests use real servers: those of the environment, else those of scripts/infra.sh.
const names = ['DATABASE_URL', 'RABBITMQ_URL', 'REDIS_URL']
if (names.some((name) => !process.env[name])) {
  const exports = execFileSync('bash', ['scripts/infra.sh', 'env'], { cwd: import.meta.dirname, encoding: 'utf8' })
  for (const [, name, url] of exports.matchAll(/^export (\w+)='(.*)'$/gm)) process.env[name] ??= url
}

const project = (displayName, testMatch, more = {}) => ({
  displayName,
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}/**/*.test.ts`),
  modulePathIgnorePatterns: ['/dist/', '<rootDir>/\\.slipway/', '/\\.tools/'],
  // Node loads tests and sources, as TypeScript: scripts/jest/register.mjs.
  runtime: '<rootDir>/scripts/jest/runtime.cjs',
  transform: {},
  ...more,
})

export default {
  // The only factor for a slow machine: it stretches the bounds of tests, and of waits in tests/support.
  testTimeout: 30_000 * Number(process.env.SLOW ?? 1),
  maxWorkers: 3,
  projects: [
    project('rules', [
      'packages/*/test',
      'services/*/test',
      'tests/support/test',
      'tests/campaign/test',
      'tests/rules',
    ]),
    // Jest starts the suite only if it runs a file of this project.
    project('golden', ['tests/golden'], {
      globalSetup: '<rootDir>/tests/golden/start-suite.mjs',
      globalTeardown: '<rootDir>/tests/golden/stop-suite.mjs',
    }),
    project('release', ['tests/faults', 'tests/kubernetes', 'tests/running', 'tests/release']),
  ],
}
