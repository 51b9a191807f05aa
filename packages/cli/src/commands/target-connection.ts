import type { Item, Schema } from '@slipway/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../exit-code.ts'
import { sanitize } from '../terminal/controls.ts'
import { readFirstLineOfStdin } from '../terminal/prompt.ts'
import type { Context } from './context.ts'
import { readOptionFile, type Verb } from './record-options.ts'
import { omitUndefined, parseDuration, parseIntegerBetween } from './values.ts'

/** How commands reach a target, as options. */

type Connection = Item<'listTargets'>['connection']
type Input = Schema<'CreateTarget'>['connection']
type Type = Connection['type']

interface SshOptions {
  host?: string
  port?: number
  user?: string
  keyFile?: string
  passwordStdin?: true
  withoutSecret?: true
  hostKey?: string
}
interface SimulatedOptions {
  duration?: number
  exitCode?: number
  failureRate?: number
}
export interface ConnectionOptions extends SshOptions, SimulatedOptions {
  connection?: Type
}

const TYPES: readonly Type[] = ['ssh', 'agent', 'local', 'simulated']
const SSH = ['host', 'port', 'user', 'keyFile', 'passwordStdin', 'withoutSecret', 'hostKey'] as const
const SIMULATED = ['duration', 'exitCode', 'failureRate'] as const

export function addConnectionOptions(command: Command, verb: Verb): Command {
  const ifNone = verb === 'create' ? '; default with --host: ssh' : ''
  command
    .addOption(new Option('--connection <type>', `how commands reach it${ifNone}`).choices(TYPES))
    .option('--host <host>', 'ssh: host name or address, as the instances reach it')
    .option('--port <number>', 'ssh: port; default: 22', parseIntegerBetween(1, 65_535))
    .option('--user <name>', 'ssh: the user who logs in and runs the commands')
    .option('--key-file <file>', 'ssh: file with the private key, without passphrase')
    .option('--password-stdin', 'ssh: read the password from stdin')
  // The server keeps the secrets of the same host, so an edit cannot take them away.
  if (verb === 'create') command.option('--without-secret', 'ssh: the host asks neither for a key nor for a password')
  return command
    .option(
      '--host-key <key>',
      'ssh: the key of the host, or its SHA256: fingerprint; default: pinned at first contact',
    )
    .option('--duration <duration>', 'simulated: how long each command takes, such as 2s', parseDuration)
    .option('--exit-code <number>', 'simulated: exit code of the commands', parseIntegerBetween(0, 255))
    .option('--failure-rate <share>', 'simulated: share of the commands that fail, 0 to 1', parseShare)
}

function parseShare(text: string): number {
  const share = Number(text)
  if (text.trim() === '' || !(share >= 0 && share <= 1))
    throw new InvalidArgumentError('Allowed are numbers from 0 to 1.')
  return share
}

/**
 * Returns the connection that the options give, or undefined if they give none. A change replaces the whole connection. Only
 * `--connection` gives a target another type: the secrets of the old one would be lost.
 */
export async function buildConnection(
  context: Context,
  options: ConnectionOptions,
  target: Pick<Item<'listTargets'>, 'name' | 'connection'> | undefined,
): Promise<Input | undefined> {
  const isSsh = SSH.some((name) => options[name] !== undefined)
  const isSimulated = SIMULATED.some((name) => options[name] !== undefined)
  const current = target?.connection
  if (current !== undefined && options.connection === undefined && !isSsh && !isSimulated) return undefined
  const type = options.connection ?? current?.type ?? (isSsh ? 'ssh' : isSimulated ? 'simulated' : undefined)
  if (type === undefined) {
    throw new UsageError(
      `how are commands to reach the target? Give --host and --user for SSH, or --connection ${TYPES.slice(1).join(', ')}`,
    )
  }
  const refuse = (flags: string, wanted: Type) => {
    if (target === undefined || options.connection !== undefined)
      throw new UsageError(`${flags} are for --connection ${wanted}, not ${type}`)
    throw new UsageError(
      `${flags} are for ${wanted}, and ${sanitize(target.name)} is ${type}; give --connection ${wanted} to change it`,
    )
  }
  if (isSsh && type !== 'ssh') refuse('--host, --user and the like', 'ssh')
  if (isSimulated && type !== 'simulated') refuse('--duration, --exit-code and --failure-rate', 'simulated')
  if (type === 'ssh') return await buildSsh(context, options, current)
  if (type !== 'simulated') return { type }
  const { duration, exitCode, failureRate } = options
  return {
    ...(current?.type === 'simulated' ? current : {}),
    type,
    ...omitUndefined({ duration_ms: duration, exit_code: exitCode, failure_rate: failureRate }),
  }
}

async function buildSsh(
  { io }: Context,
  { host, port, user, hostKey, keyFile, passwordStdin, withoutSecret }: SshOptions,
  old: Connection | undefined,
): Promise<Input> {
  const current = old?.type === 'ssh' ? old : undefined
  const to = {
    host: host ?? current?.host,
    port: port ?? current?.port,
    username: user ?? current?.username,
  }
  if (to.host === undefined || to.username === undefined)
    throw new UsageError(`SSH needs ${to.host === undefined ? '--host' : '--user'}`)
  const isSameHost = current?.host === to.host && current?.port === to.port
  const isKnown = isSameHost && current?.username === to.username
  const hasSecret = keyFile !== undefined || passwordStdin === true || withoutSecret === true
  if (!isKnown && !hasSecret) {
    throw new UsageError(
      `${current === undefined ? '' : 'Slipway keeps no secret for another host, port or user. '}How does ${to.username} log in? Give ` +
        (old === undefined
          ? '--key-file, --password-stdin, or --without-secret if the host asks for none'
          : '--key-file or --password-stdin'),
    )
  }
  return {
    type: 'ssh',
    ...omitUndefined({
      ...to,
      host_key: hostKey ?? (isSameHost ? current?.host_key : undefined),
      private_key: keyFile === undefined ? undefined : readOptionFile(keyFile),
      password: passwordStdin === undefined ? undefined : await readFirstLineOfStdin(io),
    }),
    host: to.host,
    username: to.username,
  }
}
