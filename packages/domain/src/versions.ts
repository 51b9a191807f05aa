import semver from 'semver'

/** Orders semantic versions: negative if `a` is before `b`. */
export function compareVersions(a: string, b: string): number {
  return semver.compare(a, b)
}

/** Whether the text is a full version, MAJOR.MINOR.PATCH[-pre], without `v` and without build metadata. */
export function isVersion(text: string): boolean {
  return semver.valid(text) === text
}

/** Whether the text is a range in npm's syntax: `^1.2.0`, `~2`, `>=1 <3`, `1.x || 3.x`. */
export function isVersionRequirement(text: string): boolean {
  return semver.validRange(text) !== null
}

/**
 * The highest version that satisfies the requirement, or null. Without a requirement, the highest that is not a prerelease. A
 * prerelease is chosen only if the requirement names one (npm's rule).
 */
export function resolveVersion(versions: readonly string[], requirement = '*'): string | null {
  return semver.maxSatisfying(versions, requirement)
}
