// Runs the scripts of examples/storefront like an instance: with their interpreter, in a fresh directory,
// with the declared variables only.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { environmentName, insertValues, toText } from '@slipway/domain'
import { readScript } from '@slipway/scripts'
import { freePort } from '@slipway/testing'
import { loadFileSet } from '../../packages/cli/src/files/load.ts'

const EXAMPLE = path.join(import.meta.dirname, '../../examples/storefront')

type Values = Record<string, unknown>
interface Action {
  script: string
  rollback?: { script: string }
  variables?: { name: string; default?: unknown }[]
}

const { entries } = loadFileSet([EXAMPLE], { env: {} })
const named = (kind: string) => new Map(entries.filter((one) => one.kind === kind).map((one) => [one.name, one.value]))
const [actions, sequences, solutions, targets] = ['action', 'sequence', 'solution', 'target'].map(named) as [
  Map<string, { definition: Action }>,
  Map<string, { definition: { actions: { action: string }[] } }>,
  Map<string, { definition: { sequences: { sequence: string }[] } }>,
  Map<string, { name: string; variables: Values }>,
]
const target = targets.get('storefront-1') as { name: string; variables: Values }
const order = [...solutions.values()].flatMap(({ definition }) =>
  definition.sequences.flatMap(({ sequence }) =>
    (sequences.get(sequence)?.definition.actions ?? []).map(({ action }) => action),
  ),
)
let base: string
let port: number

beforeAll(async () => {
  base = mkdtempSync(path.join(tmpdir(), 'slipway-storefront-'))
  port = await freePort()
})

afterAll(() => {
  execFileSync('sh', [path.join(EXAMPLE, 'stop.sh'), base])
  rmSync(base, { recursive: true })
})

/** Prepares a deployment of one version to the first target. */
async function prepare(id: string, version: string, more: Values = {}) {
  const defaults = [...actions.values()].flatMap(({ definition }) =>
    (definition.variables ?? []).flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value]])),
  )
  const packed = execFileSync('sh', [path.join(EXAMPLE, 'pack.sh'), version, path.join(base, 'artifacts')], {
    encoding: 'utf8',
  })
  const values: Values = {
    ...Object.fromEntries(defaults),
    health_seconds: 5,
    ...target.variables,
    first_port: port - Number(target.variables['number']),
    version,
    base_directory: base,
    ...Object.fromEntries([...packed.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])),
    ...more,
  }
  const run = async (script: string) => {
    const directory = mkdtempSync(path.join(tmpdir(), 'slipway-command-'))
    const file = path.join(directory, 'script')
    const { template } = await readScript(script, 'sh')
    writeFileSync(file, insertValues(script, template, values))
    const { PATH, HOME } = process.env
    const variables = Object.entries(values).map(([name, value]) => [environmentName(name), toText(value)])
    const result = spawnSync('sh', [file], {
      cwd: directory,
      encoding: 'utf8',
      env: {
        PATH,
        HOME,
        LANG: 'C.UTF-8',
        SLIPWAY_DEPLOYMENT_ID: id,
        SLIPWAY_TARGET_NAME: target.name,
        ...Object.fromEntries(variables),
      },
    })
    rmSync(directory, { recursive: true })
    return result
  }
  const definition = (name: string) => {
    const found = actions.get(name)?.definition
    if (!found) throw new Error(`no action ${name}`)
    return found
  }
  return {
    step: (name: string) => run(definition(name).script),
    rollback: (name: string) => run(definition(name).rollback?.script ?? ''),
  }
}

async function deploy(id: string, version: string) {
  const { step } = await prepare(id, version)
  for (const name of order) expect({ name, ...outcome(await step(name)) }).toMatchObject({ name, code: 0, stderr: '' })
}

/** Runs all steps, of which the last fails, and then the rollbacks in reverse order. */
async function deployAndRollBack(id: string, version: string) {
  const { step, rollback } = await prepare(id, version, { fail_health: true, health_seconds: 1 })
  const results = []
  for (const name of order) results.push(outcome(await step(name)))
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 1])
  expect(results.at(-1)?.stderr).toContain(`storefront ${version} is not well after 1 s`)
  expect(results.at(-1)?.stderr).toContain('status 500')
  for (const name of order.toReversed()) expect(outcome(await rollback(name))).toMatchObject({ code: 0, stderr: '' })
}

const outcome = ({ status, stdout, stderr }: ReturnType<typeof spawnSync>) => ({
  code: status,
  stdout: String(stdout),
  stderr: String(stderr),
})

const current = () => readlinkSync(path.join(base, 'storefront-1', 'current'))
// A new connection for each request. A kept connection would lead to the previous process.
const ask = (page: string) => fetch(`http://127.0.0.1:${port}${page}`, { headers: { connection: 'close' } })
const health = async () => (await ask('/health')).json()
const answers = () =>
  ask('/health').then(
    () => true,
    () => false,
  )

describe('the storefront example', () => {
  test('an unhealthy first release leaves no process running', async () => {
    await deployAndRollBack('a', '0.9.0')
    expect(existsSync(path.join(base, 'storefront-1', 'current'))).toBe(false)
    expect(await answers()).toBe(false)
  })

  test('a release answers with its version and settings', async () => {
    await deploy('b', '1.0.0')
    expect(current()).toBe('releases/1.0.0')
    expect(await health()).toEqual({ status: 'ok', version: '1.0.0', target: 'storefront-1' })
    const page = await (await ask('/')).text()
    expect(page).toContain(String(target.variables?.['greeting']))
  })

  test('the next version replaces it', async () => {
    await deploy('c', '1.1.0')
    expect(current()).toBe('releases/1.1.0')
    expect(await health()).toMatchObject({ status: 'ok', version: '1.1.0' })
  })

  test('an unhealthy version is rolled back to the previous version', async () => {
    await deployAndRollBack('d', '1.2.0')
    expect(current()).toBe('releases/1.1.0')
    expect(await health()).toMatchObject({ status: 'ok', version: '1.1.0' })
  })

  test('the same version with other settings is rolled back to its earlier settings', async () => {
    await deployAndRollBack('e', '1.1.0')
    expect(await health()).toMatchObject({ status: 'ok', version: '1.1.0' })
  })

  test('every step and every rollback can run twice', async () => {
    const { step, rollback } = await prepare('f', '1.3.0')
    for (const name of order) for (const _ of [1, 2]) expect(outcome(await step(name)).code).toBe(0)
    expect(await health()).toMatchObject({ version: '1.3.0' })
    for (const name of order.toReversed()) for (const _ of [1, 2]) expect(outcome(await rollback(name)).code).toBe(0)
    expect(await health()).toMatchObject({ status: 'ok', version: '1.1.0' })
  })

  test('an artifact with another checksum is refused', async () => {
    const { step } = await prepare('g', '1.4.0')
    writeFileSync(path.join(base, 'artifacts', 'storefront-1.4.0.tar.gz'), 'something else')
    const { code, stderr } = outcome(await step('Unpack storefront'))
    expect(code).toBe(1)
    expect(stderr).toMatch(/has the checksum [0-9a-f]{64}, expected [0-9a-f]{64}/)
    expect(current()).toBe('releases/1.1.0')
  })

  test('packing twice produces the same bytes', () => {
    const pack = () => execFileSync('sh', [path.join(EXAMPLE, 'pack.sh'), '2.0.0', path.join(base, 'artifacts')])
    expect(pack().toString()).toBe(pack().toString())
  })
})
