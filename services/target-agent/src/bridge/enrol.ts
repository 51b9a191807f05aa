import { mkdir } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { AgentEnrolResponse } from '@slipway/contracts'
import { BridgeConnections, ConfigurationError, createLogger } from '@slipway/runtime'
import { ADDRESS_PATTERN, type AgentConfig } from '../config.ts'
import { saveEnrolment } from '../identity/identity.ts'
import { BridgeRefusal, callBridge } from './call.ts'
import { describeAgent } from './describe-agent.ts'

const ADDRESS = new RegExp(ADDRESS_PATTERN)

export const ENROL_USAGE = `target-agent enrol --url URL --token TOKEN [--address HOST[:PORT]]

  --url      base URL of the executor-bridge; for an https bridge with a private CA, set
             SLIPWAY_BRIDGE_CA_FILE to the file of its CA certificates
  --token    from POST /api/v1/targets/{id}/agent-token; - reads the token from standard input,
             so that process lists do not show it
  --address  address under which instances reach this agent; default: the address from which
             it calls the bridge; SLIPWAY_AGENT_ADDRESS takes precedence`

/** Enrols this machine. Returns the exit code. */
export async function enrol(args: string[], config: AgentConfig): Promise<number> {
  const options = optionsOf(args)
  if (typeof options === 'string') return fail(`${options}\n\n${ENROL_USAGE}`)
  const { url, address } = options
  const token = options.token === '-' ? (await text(process.stdin)).trim() : options.token
  const folder = config.SLIPWAY_AGENT_STATE_DIR
  const logger = createLogger({ service: 'target-agent', level: 'warn', stream: process.stderr })
  try {
    // A failure here must come before the use of the token.
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const enrolment = await callBridge({
      connections: new BridgeConnections({ caFile: config.SLIPWAY_BRIDGE_CA_FILE, urlSetting: '--url', logger }),
      url,
      path: '/v1/agents',
      credential: token,
      bodyOf: (localAddress) =>
        describeAgent(config.SLIPWAY_AGENT_ADDRESS || address, config.SLIPWAY_AGENT_PORT, localAddress),
      answer: AgentEnrolResponse,
    })
    await saveEnrolment(folder, { ...enrolment, bridge_url: url, address })
    process.stdout.write(`enrolled as the agent of ${enrolment.target_name}\n`)
    return 0
  } catch (error) {
    if (error instanceof BridgeRefusal) return fail(`the bridge refuses: ${error.message}`)
    if (error instanceof ConfigurationError) return fail(error.message)
    const { code, message } = error as NodeJS.ErrnoException
    return fail(`the agent could not enrol at ${url}: ${message || code}`)
  }
}

function optionsOf(args: string[]): { url: string; token: string; address: string } | string {
  try {
    const { values } = parseArgs({
      args,
      options: { url: { type: 'string' }, token: { type: 'string' }, address: { type: 'string' } },
    })
    const { url = '', token = '', address = '' } = values
    if (token === '') return '--token is missing'
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return '--url must begin with http:// or https://'
    if (!ADDRESS.test(address)) return '--address must be `host`, `host:port` or `[IPv6]:port`'
    return { url, token, address }
  } catch (error) {
    return (error as Error).message
  }
}

function fail(message: string): number {
  process.stderr.write(`${message}\n`)
  return 1
}
