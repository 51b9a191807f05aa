import type { Command, Option } from 'commander'

/** What the command line calls the fields of requests, so that a refusal of the server names options. */

const GIVEN = new WeakMap<Command, Readonly<Record<string, string>>>()

/**
 * Names the options of fields that have another name: `{ target_ids: '--target' }`. Others need no entry: `environment_id` is
 * `--environment`, and `permissions` is `--permission`. A field inside of another one has a name such as `connection/host`.
 */
export function nameFields(command: Command, names: Readonly<Record<string, string>>): Command {
  GIVEN.set(command, { ...GIVEN.get(command), ...names })
  return command
}

/** Returns the option or the argument of the command for a field of the API, or undefined if it has none. */
export function findFieldName(command: Command, field: string): string | undefined {
  const given = GIVEN.get(command)?.[field]
  if (given !== undefined) return given
  const plain = field.toLowerCase().replaceAll('_', '-')
  const names = [plain, plain.replace(/-(ids?|time|at)$/, ''), plain.replace(/-ids$|s$/, ''), `${plain}-stdin`]
  const option = command.options.find(({ long }) => names.some((name) => long === `--${name}`))
  if (option?.long) return option.long
  const argument = command.registeredArguments.find((one) => names.includes(one.name()))
  return argument === undefined ? undefined : `<${argument.name()}>`
}

/** Returns a place in a request in the words of the command, such as `--var port` for `/variables/port`. */
export function describePlace(command: Command, path: string): string | undefined {
  const keys = path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const nested = GIVEN.get(command)?.[keys.slice(0, 2).join('/')]
  const name = nested ?? findFieldName(command, keys[0] ?? '')
  if (name === undefined) return undefined
  const [key, ...rest] = keys.slice(nested === undefined || keys.length === 1 ? 1 : 2)
  if (key === undefined) return name
  const value = /^\d+$/.test(key) ? findValue(command, name, Number(key)) : key
  return [name, ...(value === undefined ? [] : [value]), ...rest].join(' ')
}

/** The value that a person gave to an option which can be repeated. */
function findValue(command: Command, name: string, index: number): string | undefined {
  const option: Option | undefined = command.options.find(({ long }) => long === name)
  const values: unknown = option && command.getOptionValue(option.attributeName())
  const value: unknown = Array.isArray(values) ? values[index] : undefined
  return typeof value === 'string' ? value : undefined
}

/**
 * Replaces the names of fields in a sentence of the server. A name with an underscore is never a word of the sentence. What is
 * quoted or a part of a longer value, such as `api_key.create`, is no field.
 */
export const translateFields = (command: Command, sentence: string): string =>
  sentence.replace(
    /(?<![\w."'`/-])[a-z]+(?:_[a-z]+)+(?![\w"'`/-]|\.\w)/g,
    (field) => findFieldName(command, field) ?? field,
  )
