import type { AgentHeartbeatRequest } from '@slipway/contracts'
import { SLIPWAY_VERSION } from '@slipway/runtime'

/** What this agent tells of itself: `address` is what was configured, may be empty and may lack the port. */
export function aboutAgent(address: string, port: number, localAddress: string): AgentHeartbeatRequest {
  const [, host = '', given] = /^(.*?)(?::(\d{1,5}))?$/.exec(address) ?? []
  return {
    version: SLIPWAY_VERSION,
    host: host.replace(/^\[(.*)\]$/, '$1') || localAddress,
    port: given === undefined ? port : Number(given),
  }
}
