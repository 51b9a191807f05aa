import { hash } from 'node:crypto'

/**
 * The id of a step, derived from its place in the plan: 200,000 steps need no index of ids. It is the MD5 of
 * `deployment/target/action` as a version 8 UUID. `step_id()` in the migrations is the same rule in SQL.
 */
export function stepId(deploymentId: string, targetIndex: number, actionIndex: number): string {
  const hex = hash('md5', `${deploymentId.toLowerCase()}/${targetIndex}/${actionIndex}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}
