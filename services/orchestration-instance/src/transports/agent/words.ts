import { CommandError } from '@slipway/commands'
import { networkReason } from '../network-reason.ts'
import { endpointOf } from '../words.ts'
import type { AgentAddress, LinkError } from './link.ts'

export function agentOn(targetName: string, address: AgentAddress): string {
  return `the agent on ${targetName} (${endpointOf(address)})`
}

export const linkFailed = (agent: string, error: LinkError): CommandError =>
  new CommandError(linkProblem(agent, error), networkReason(error.code))

export function linkProblem(agent: string, error: LinkError): string {
  const { code, message } = error
  if (code === 'ECONNREFUSED') return `${agent} refused the connection`
  if (code === 'ETIMEDOUT') return `${agent} does not answer`
  if (code === 'ECONNRESET' || code === 'EPIPE') return `${agent} closed the connection`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host name of ${agent} cannot be resolved`
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL')) {
    return `${agent} does not accept its key: it was revoked or enrolled anew, or something else answers there`
  }
  if (code === 'ANSWER') return `${agent} gave a wrong answer: ${message}`
  return `${agent} cannot be reached (${code ?? message.slice(0, 200)})`
}
