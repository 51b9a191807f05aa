import type { Item, Schema } from '@slipway/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../exit-code.ts'
import { readFirstLineOfStdin } from '../terminal/prompt.ts'
import type { Context } from './context.ts'
import { readOptionFile } from './record-options.ts'
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

export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(new Option('--connection <type>', 'how commands reach it; default with --host: ssh').choices(TYPES))
    .option('--host <host>', 'ssh: host name or address, as the instances reach it')
    .option('--port <number>', 'ssh: port; default: 22', parseIntegerBetween(1, 65_535))
    .option('--user <name>', 'ssh: the user who logs in and runs the commands')
    .option('--key-file <file>', 'ssh: file with the private key, without passphrase')
    .option('--password-stdin', 'ssh: read the password from stdin')
    .option('--without-secret', 'ssh: the host asks neither for a key nor for a password')
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

/** Returns the connection that the options give, or undefined if they give none. A change replaces the whole connection. */
export async function buildConnection(
  context: Context,
  options: ConnectionOptions,
  current: Connection | undefined,
): Promise<Input | undefined> {
  const isSsh = SSH.some((name) => options[name] !== undefined)
  const isSimulated = SIMULATED.some((name) => options[name] !== undefined)
  const type = options.connection ?? (isSsh ? 'ssh' : isSimulated ? 'simulated' : undefined)
  if (type === undefined) {
    if (current !== undefined) return undefined
    throw new UsageError(
      `how are commands to reach the target? Give --host and --user for SSH, or --connection ${TYPES.slice(1).join(', ')}`,
    )
  }
  if (isSsh && type !== 'ssh') throw new UsageError(`--host, --user and the like are for --connection ssh, not ${type}`)
  if (isSimulated && type !== 'simulated')
    throw new UsageError(`--duration, --exit-code and --failure-rate are for --connection simulated, not ${type}`)
  if (type === 'ssh') return await buildSsh(context, options, current?.type === 'ssh' ? current : undefined)
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
  current: Extract<Connection, { type: 'ssh' }> | undefined,
): Promise<Input> {
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
      `${current === undefined ? '' : 'Slipway keeps no secret for another host, port or user. '}How does ${to.username} log in? Give --key-file, ` +
        '--password-stdin, or --without-secret if the host asks for none',
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
