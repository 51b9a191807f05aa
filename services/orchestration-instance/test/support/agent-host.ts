import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command, CommandEnd } from '@slipway/commands'
import { Semaphore } from '@slipway/runtime'
import { type AgentProcess, startAgent } from '@slipway/testing'
import { AgentTransport, type AgentTransportOptions } from '../../src/transports/agent/agent-transport.ts'
import type { AgentAddress } from '../../src/transports/agent/link.ts'
import { commandOf } from './commands.ts'

// For tests outside of the service, which cannot import the package.
export { Kill } from '@slipway/commands'

export const AGENT_KEY = Buffer.alloc(32, 9).toString('base64')
const AGENT_ID = randomUUID()

interface RunOptions {
  address?: AgentAddress | null
  signal?: AbortSignal
  output?: Buffer[]
  onOutput?: () => Promise<void>
}

interface Outcome {
  end: CommandEnd
  stdout: string
  stderr: string
}

/** A real agent, and the part of the bridge that the agent calls. */
export class AgentHost {
  readonly #bridge: http.Server
  #agent: AgentProcess | undefined
  readonly #transports: AgentTransport[] = []
  isRevoked = false

  private constructor() {
    this.#bridge = http.createServer(({ url }, response) => {
      const enrolment = {
        agent_id: AGENT_ID,
        target_name: 'db-1',
        key: AGENT_KEY,
        credential: 'c',
        heartbeat_seconds: 1,
      }
      const refused = this.isRevoked && url !== '/v1/agents'
      const accepted = url === '/v1/agents' ? enrolment : { heartbeat_seconds: 1 }
      response.writeHead(refused ? 401 : 200)
      response.end(JSON.stringify(refused ? { error: { message: 'revoked' } } : accepted))
    })
  }

  static async start(): Promise<AgentHost> {
    const host = new AgentHost()
    const bridge = host.#bridge
    await new Promise<void>((resolve) => bridge.listen(0, '127.0.0.1', resolve))
    try {
      host.#agent = await startAgent({
        bridgeUrl: `http://127.0.0.1:${(bridge.address() as AddressInfo).port}`,
        token: 'token',
        settings: { SLIPWAY_AGENT_ORPHAN_SECONDS: '5', SLIPWAY_AGENT_SPOOL_MIB: '1' },
      })
    } catch (error) {
      await host.remove()
      throw error
    }
    return host
  }

  async remove(): Promise<void> {
    await this.#agent?.remove()
    this.#bridge.closeAllConnections()
    this.#bridge.close()
  }

  /** Closes all transports. Call it after each test. */
  closeTransports(): void {
    for (const transport of this.#transports.splice(0)) transport.close()
  }

  get agent(): AgentProcess {
    return this.#agent as AgentProcess
  }

  address(port = this.agent.port): AgentAddress {
    return { id: AGENT_ID, host: '127.0.0.1', port, key: AGENT_KEY }
  }

  transport(options: Partial<AgentTransportOptions>): AgentTransport {
    const defaults = { targetName: 'db-1', address: this.address(), abandoning: new Semaphore(1), onSeen() {} }
    const transport = new AgentTransport({ ...defaults, ...options })
    this.#transports.push(transport)
    return transport
  }

  /** Runs a command to its end and collects its output. */
  async run(parts: Partial<Command>, options: RunOptions = {}): Promise<Outcome> {
    const { address = this.address(), signal = new AbortController().signal, output = [], onOutput } = options
    const transport = this.transport({ address })
    const identity = { ...commandOf({}).identity, deploymentId: randomUUID(), ...parts.identity }
    const errors: Buffer[] = []
    const io = {
      onOutput(stream: 'stdout' | 'stderr', chunk: Buffer) {
        ;(stream === 'stdout' ? output : errors).push(chunk)
        return onOutput?.()
      },
    }
    const end = await transport.run(commandOf({ ...parts, identity }), io, signal)
    return { end, stdout: Buffer.concat(output).toString(), stderr: Buffer.concat(errors).toString() }
  }
}
