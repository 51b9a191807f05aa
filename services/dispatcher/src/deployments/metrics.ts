import { counter } from '@slipway/runtime'

export const requests = counter(
  'slipway_deployment_requests_total',
  'Requests to deploy by what became of them: started, queued, refused or late (past their deadline)',
  ['outcome'],
)

export const ended = counter(
  'slipway_deployments_ended_total',
  'Deployments that ended, by their final state; `checked` for checks',
  ['state'],
)
