import type { Answer, Schema } from './types.ts'

/** Whether a create or redeploy with `only_changed` left no target, so that nothing was created. */
export function isNothingToDeploy(
  answer: Answer<'createDeployment' | 'redeployDeployment'>,
): answer is Schema<'NothingToDeploy'> {
  return 'deployment_id' in answer && answer.deployment_id === null
}
