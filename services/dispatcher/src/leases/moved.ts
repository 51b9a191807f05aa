/**
 * Thrown if what these deployments were given is taken or gone since the snapshot: a slot, its instance, or a target. They are decided
 * again.
 */
export class Moved extends Error {
  override name = 'Moved'
  readonly deploymentIds: readonly string[]

  constructor(deploymentIds: readonly string[]) {
    super(`what these deployments were given is taken meanwhile: ${deploymentIds.join(', ')}`)
    this.deploymentIds = deploymentIds
  }
}
