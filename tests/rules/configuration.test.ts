import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { ConfigurationError, loadConfig } from '@slipway/runtime'
import { repositoryRoot } from '@slipway/testing'
import { SERVICES, schemaOf } from './services.ts'

const page = fs.readFileSync(path.join(repositoryRoot, 'docs/configuration.md'), 'utf8')

interface Variable {
  name: string
  required: boolean
  secret: boolean
  readers: string
}

/** The rows of the page. */
const variables: Variable[] = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [, name = '', value, , , secret, readers = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    return { name: name.slice(1, -1), required: value === '**required**', secret: secret === 'yes', readers }
  })

const readBy = (service: string) =>
  variables.filter(({ readers }) => readers === 'all' || readers.split(', ').includes(service))

async function refusalOf(service: string, env: Record<string, string>): Promise<ConfigurationError> {
  try {
    loadConfig(await schemaOf(service), env)
  } catch (error) {
    if (error instanceof ConfigurationError) return error
    throw error
  }
  return new ConfigurationError([])
}

test('the page of all variables matches the schemas', async () => {
  const { configurationPage } = await import(path.join(repositoryRoot, 'scripts/configuration-page.mjs'))
  expect(page).toBe(await configurationPage())
})

test.each(SERVICES)(
  '%s needs the variables that the page calls required, and names all of them with examples',
  async (service) => {
    const { problems } = await refusalOf(service, {})
    const required = readBy(service).filter((variable) => variable.required)
    expect(problems.map(({ variable }) => variable).sort()).toEqual(required.map(({ name }) => name).sort())
    for (const { example } of problems) expect(example).toMatch(/./)
  },
)

test.each(SERVICES)('%s describes a wrong value, and never shows a value that may be secret', async (service) => {
  const secrets = readBy(service).filter(({ secret }) => secret)
  const given = Object.fromEntries(secrets.map(({ name }) => [name, 'hunter2']))
  const { message } = await refusalOf(service, { ...given, SLIPWAY_LOG_LEVEL: 'loud' })
  expect(message).toContain('SLIPWAY_LOG_LEVEL is "loud", which must be one of error, warn, info, debug')
  expect(message).not.toContain('hunter2')
})

test('a drift check interval below 60 s is refused', async () => {
  const { message } = await refusalOf('dispatcher', { SLIPWAY_DRIFT_CHECK_INTERVAL: '59' })
  expect(message).toContain(
    'SLIPWAY_DRIFT_CHECK_INTERVAL is "59", which must be 0, or a whole number from 60 to 31536000',
  )
})
