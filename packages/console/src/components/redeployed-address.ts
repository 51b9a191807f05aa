import type { Answer } from '@slipway/client'

/** Where the deployment or the request is that a redeployment has made. */
export function redeployedAddress(answer: Answer<'redeployDeployment'>): string {
  if ('id' in answer) return `/deployments/${answer.id}`
  return 'pending_request_id' in answer ? `/queue/${answer.pending_request_id}` : '/queue'
}
