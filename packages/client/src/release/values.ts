import { spawn } from 'node:child_process'
import path from 'node:path'
import { checkValue, isVariableName, toText } from '@slipway/domain'
import { declaredVariables, type Release } from './load.ts'
import { FileProblems } from './yaml-file.ts'

export type Values = Record<string, unknown>

const PLACEHOLDER = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g

/**
 * The variables that a deployment of the release is given, lowest first: `variables` and `paths` of deployment.yaml, what
 * its `prepare` command prints, `overrides` (NAME=VALUE). Runs that command. Throws FileProblems.
 */
export async function deploymentValues(release: Release, overrides: readonly string[]): Promise<Values> {
  const { variables = {}, paths = {}, prepare } = release.deployment.value
  const given = parseOverrides(release, overrides)
  const folder = path.resolve(release.deployment.folder)
  const places = Object.entries(paths).map(([name, place]): [string, string] => [name, path.resolve(folder, place)])
  const values: Values = { ...variables, ...Object.fromEntries(places), ...given }
  if (!prepare) return values
  const command = prepare.command.map((word, n) =>
    fill(word, values, (message) => {
      throw new FileProblems([release.deployment.problem(`/prepare/command/${n}`, message)])
    }),
  )
  return { ...values, ...(await run(command, folder)), ...given }
}

/** Puts values where a text says `{{ name }}`; `unknown` is told of a name that has none. */
export function fill(text: string, values: Values, unknown: (message: string) => void = () => {}): string {
  return text.replace(PLACEHOLDER, (placeholder, name: string) => {
    if (Object.hasOwn(values, name)) return toText(values[name])
    unknown(`names ${placeholder}, but no variable is called ${name}`)
    return placeholder
  })
}

/** NAME=VALUE as values of the types that the release declares. */
function parseOverrides(release: Release, overrides: readonly string[]): Values {
  const declared = declaredVariables(release)
  return Object.fromEntries(
    overrides.map((override) => {
      const [, name = '', text = ''] = /^([^=]*)=(.*)$/s.exec(override) ?? []
      if (!isVariableName(name)) throw new FileProblems([`--var ${override}: write it as NAME=VALUE`])
      const definition = declared.find((one) => one.name === name) ?? { type: 'string' as const }
      const value = parse(text, definition.type)
      const problem = value === undefined ? `must be a ${definition.type}` : checkValue(definition, value)
      if (problem) throw new FileProblems([`--var ${name}: ${problem}`])
      return [name, value]
    }),
  )
}

function parse(text: string, type: string | undefined): unknown {
  if (type === undefined || type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Runs a command and gathers the NAME=VALUE lines that it prints; its other lines and its errors are shown. */
async function run([program = '', ...args]: string[], folder: string): Promise<Values> {
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const said = [program, ...args].join(' ')
  await new Promise<void>((resolve, reject) => {
    child.on('error', (error) =>
      reject(new Error(`deployment.yaml: prepare: ${program} cannot be run: ${error.message}`)),
    )
    child.on('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`deployment.yaml: prepare: "${said}" failed (${signal ?? `exit code ${code}`})`))
    })
  })
  const values: Values = {}
  for (const line of output.split('\n').filter((one) => one !== '')) {
    const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line) ?? []
    if (name === undefined) console.error(line)
    else values[name] = value
  }
  return values
}
