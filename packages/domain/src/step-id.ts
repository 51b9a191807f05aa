import { createHash } from 'node:crypto'

/**
 * The id of a step, which follows from its place in the plan, so that 200,000 steps need no index for it. A version 8
 * UUID; the same rule in SQL: `step_id()` in the migrations.
 */
export function stepId(deploymentId: string, targetIndex: number, actionIndex: number): string {
  const hex = createHash('md5').update(`${deploymentId.toLowerCase()}/${targetIndex}/${actionIndex}`).digest('hex')
  const marked = `${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17)}`
  return marked.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
