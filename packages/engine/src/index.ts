export { type Part, type PartState, partState } from './part.ts'
export { IN_FORCE, type Release, type ReleasedDeployment, releaseOf, releaseState } from './release.ts'
