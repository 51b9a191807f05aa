// examples/kubernetes and the values in docs/kubernetes.md.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isDevelopmentSecret } from '@slipway/runtime'
import { repositoryRoot } from '@slipway/testing'
import { parse } from 'yaml'
import { chartFolder } from '../../scripts/helm.mjs'
import { chartOf, render, valuesFile } from './helm.ts'
import { type Manifest, ofKind, parseManifests } from './manifests.ts'
import { type End, reaches } from './network.ts'
import { invalid, misfits } from './schemas.ts'

const read = (file: string) => fs.readFileSync(path.join(repositoryRoot, file), 'utf8')
const example = (name: string) => path.join('examples/kubernetes', name)
const page = read('docs/kubernetes.md')

let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-examples-'))
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

/** The names of the Secrets that the pods read. */
function secretsOf(manifests: Manifest[]): string[] {
  const found = JSON.stringify(manifests).matchAll(/"secretKeyRef":{"name":"([^"]+)"|"secretName":"([^"]+)"/g)
  return [...new Set([...found].map(([, key, volume]) => key ?? volume ?? ''))].sort()
}

/** Runs a block of the page with a kubectl that prints what it is given. */
function runBlock(beginning: string): string {
  const [, block] =
    [...page.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].find(([, text]) => text?.includes(beginning)) ?? []
  fs.writeFileSync(path.join(folder, 'kubectl'), '#!/bin/sh\ncat\n', { mode: 0o755 })
  const env = { PATH: `${folder}:${process.env['PATH']}` }
  return execFileSync('sh', ['-euc', block ?? 'exit 1'], { cwd: repositoryRoot, env, encoding: 'utf8' })
}

test('the values on the page are valid and have the described effects', () => {
  const schema = parse(fs.readFileSync(path.join(chartFolder, 'values.schema.json'), 'utf8'))
  const blocks = [...page.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)]
    .map(([, , block = '']) => block)
    .filter((block) => Object.keys(parse(block)).every((key) => key in schema.properties))
  expect(blocks.length).toBeGreaterThanOrEqual(6)
  const files = blocks.map((block, index) => {
    fs.writeFileSync(path.join(folder, `${index}.yaml`), block)
    return `--values=${folder}/${index}.yaml`
  })
  const manifests = [...render(valuesFile('minimal'), ...files), ...render(valuesFile('production'), ...files)]
  expect(misfits(manifests)).toEqual([])
  const text = JSON.stringify(manifests)
  const shown = [
    'registry.mine/slipway/gateway:',
    'slipway.mine',
    '10.1.2.0/24',
    'instance-zone-a',
    'slipway.mine/docs/operations',
    's3://backups-of-mine/',
    '"serverName":"postgres-2"',
    'bridge.slipway.mine',
  ]
  expect(shown.filter((value) => !text.includes(value))).toEqual([])
})

describe('the trial', () => {
  const trial = parseManifests(read(example('trial.yaml')))
  const secrets = ofKind(trial, 'Secret')

  test('has every Secret that the chart reads with its values, except for the certificate of the bridge', () => {
    const needed = secretsOf(render(example('trial-values.yaml'))).filter((name) => name !== 'slipway-bridge-tls')
    expect(secrets.map(({ metadata }) => metadata.name).sort()).toEqual(needed)
    expect(needed.length).toBeGreaterThan(10)
  })

  test('has no secret that a service accepts without SLIPWAY_DEVELOPMENT', () => {
    const values = secrets.flatMap(({ stringData }) => Object.values(stringData ?? {}))
    expect(values.filter((value) => !isDevelopmentSecret(value))).toEqual([])
  })

  test('has only fields and values that Kubernetes knows', async () => {
    expect(misfits(trial)).toEqual([])
    expect(await invalid(trial)).toEqual([])
  })
})

describe('the route of the Gateway API', () => {
  const manifests = parseManifests(read(example('http-route.yaml')))
  const rules = manifests[0]?.spec?.rules as unknown as {
    matches: { path: { type: string; value: string } }[]
    backendRefs: { name: string; port: number }[]
  }[]
  const matches = (url: string, { type, value }: { type: string; value: string }) =>
    type === 'RegularExpression'
      ? new RegExp(`^${value}$`).test(url)
      : url === value || `${url}/`.startsWith(value.replace(/\/?$/, '/'))

  test.each([
    ['/api/v1/sse/deployments', 'log-stream'],
    ['/api/v1/deployments/0190a0f0/logs', 'log-stream'],
    ['/api/v1/deployments/0190a0f0/logs/history', 'gateway'],
    ['/', 'gateway'],
  ])('leads %s to %s, and the Gateway may connect', (url, service) => {
    const [backend] = rules.find((rule) => rule.matches.some(({ path }) => matches(url, path)))?.backendRefs ?? []
    expect(backend?.name).toBe(service)
    const installed = chartOf('minimal')
    const target = ofKind(installed, 'Service').find(({ metadata }) => metadata.name === service)
    const port = backend?.port ?? 0
    expect(target?.spec?.ports?.map((open) => open.port)).toEqual([port])
    const gateway: End = { namespace: 'envoy-gateway-system', labels: {} }
    const pod: End = { namespace: 'slipway', labels: { 'app.kubernetes.io/name': service } }
    expect(reaches(installed, gateway, pod, port)).toBe(false)
    expect(reaches([...installed, ...manifests], gateway, pod, port)).toBe(true)
  })
})

test('the loop on the page makes an ExternalSecret for each Secret that the chart reads', () => {
  const made = parseManifests(runBlock('external-secret.yaml'))
  const needed = secretsOf(chartOf('minimal')).filter((name) => name !== 'slipway-bridge-tls')
  const names = made.map(({ metadata }) => metadata.name)
  expect(needed.filter((name) => !names.includes(name))).toEqual([])
  expect(needed.length).toBeGreaterThan(10)
})
