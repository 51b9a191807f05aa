import type { AgentHeartbeatRequest } from '@slipway/contracts'
import { SLIPWAY_VERSION } from '@slipway/runtime'

/** The version and address of this agent. `address` is the configured one, possibly empty or without a port. */
export function describeAgent(address: string, port: number, localAddress: string): AgentHeartbeatRequest {
  const [, host = '', given] = /^(.*?)(?::(\d{1,5}))?$/.exec(address) ?? []
  return {
    version: SLIPWAY_VERSION,
    host: host.replace(/^\[(.*)\]$/, '$1') || localAddress,
    port: given === undefined ? port : Number(given),
  }
}
