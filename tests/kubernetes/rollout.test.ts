import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'
import { kustomize, overlayFolder } from './manifests.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-rollout-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

const OVERLAYS = ['production', 'external-services'] as const
for (const overlay of OVERLAYS) fs.writeFileSync(path.join(folder, overlay), kustomize(overlayFolder(overlay)))

// A fake kubectl that records its calls and reports the given conditions of jobs.
fs.writeFileSync(
  path.join(folder, 'kubectl'),
  `#!/bin/sh
case "$*" in
  kustomize*) [ -d "$2" ] || { echo "$2 is no folder" >&2; exit 1; }; exec cat "${folder}/$(basename "$2")" ;;
  *"get job certificates"*) printf '%s' "\${CERTIFICATES:-Complete}" ;;
  *"get job broker-users"*) printf '%s' "\${BROKER_USERS:-Complete}" ;;
  *"get job migrate"*) printf '%s' "$JOB" ;;
esac
printf '%s\n' "$*" | sed 's#-f [^ ]* *##' >>"$CALLS"
`,
  { mode: 0o755 },
)

function rollout(args: string[], env: Record<string, string> = {}) {
  const calls = path.join(folder, 'calls')
  fs.rmSync(calls, { force: true })
  const { status, stderr } = spawnSync('sh', [path.join(repositoryRoot, 'deploy/kubernetes/rollout.sh'), ...args], {
    env: { PATH: `${folder}:${process.env['PATH']}`, CALLS: calls, JOB: 'Complete', ...env },
    encoding: 'utf8',
    timeout: 120_000,
  })
  const said = fs.existsSync(calls) ? fs.readFileSync(calls, 'utf8').trim().split('\n') : []
  return { status, stderr, calls: said.map((line) => line.trim()) }
}

const asked = (job: string) => `-n slipway get job ${job} -o jsonpath={.status.conditions[?(@.status=="True")].type}`
const APPLIED = [
  'apply --selector !slipway.dev/stage',
  '-n slipway delete job certificates broker-users migrate --ignore-not-found',
  'apply --selector slipway.dev/stage in (certificates, migration)',
]
const PREPARED = [...APPLIED, asked('migrate')]
const USERS_CREATED = asked('broker-users')

test('the services are applied after the migration is complete', () => {
  const { status, calls } = rollout(['production'], {
    SLIPWAY_ROLLOUT_SECONDS: '60',
    JOB: 'SuccessCriteriaMet Complete',
  })
  expect(calls).toEqual([
    ...PREPARED,
    USERS_CREATED,
    'apply --selector slipway.dev/stage=services',
    ...['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream'].map(
      (service) => `-n slipway rollout status deployment/${service} --timeout 60s`,
    ),
  ])
  expect(status).toBe(0)
})

test.each([
  ['Failed', '900', 'the job migrate failed'],
  ['', '0', 'the job migrate did not end within 0 s'],
])('the services are not changed if the migration is %j', (state, limit, problem) => {
  const { status, stderr, calls } = rollout(['production'], { JOB: state, SLIPWAY_ROLLOUT_SECONDS: limit })
  expect(calls).toEqual([...PREPARED, '-n slipway logs job/migrate --tail 50'])
  expect(stderr).toBe(`rollout: ${problem}; the services were left as they are\n`)
  expect(status).toBe(1)
})

test('the services are not changed if their users could not be created', () => {
  const { status, calls } = rollout(['production'], { BROKER_USERS: 'Failed' })
  expect(calls).toEqual([...PREPARED, USERS_CREATED, '-n slipway logs job/broker-users --tail 50'])
  expect(status).toBe(1)
})

test('without cert-manager the services are applied after the job certificates is complete', () => {
  const waited = [...APPLIED, asked('certificates')]
  const good = rollout(['external-services'])
  expect(good.status).toBe(0)
  expect(good.calls.slice(0, 6)).toEqual([...waited, asked('migrate'), 'apply --selector slipway.dev/stage=services'])
  const failed = rollout(['external-services'], { CERTIFICATES: 'Failed' })
  expect(failed.status).toBe(1)
  expect(failed.calls).toEqual([...waited, '-n slipway logs job/certificates --tail 50'])
  expect(failed.stderr).toBe('rollout: the job certificates failed; the services were left as they are\n')
})

test('a dry run changes nothing', () => {
  expect(rollout(['production', '--dry-run']).calls).toEqual(['diff'])
})

test('the error names an unknown overlay', () => {
  const { status, stderr, calls } = rollout(['staging'])
  expect(calls).toEqual([])
  expect(stderr).toContain('overlays/staging')
  expect(status).not.toBe(0)
})
