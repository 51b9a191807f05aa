import semver from 'semver'

/** Order of semantic versions: negative when `a` comes before `b`. */
export function compareVersions(a: string, b: string): number {
  return semver.compare(a, b)
}

/** Whether it is a full version, MAJOR.MINOR.PATCH[-pre]: no `v` before, no build metadata behind. */
export function isVersion(text: string): boolean {
  return semver.valid(text) === text
}

/** Whether it is a range as npm writes them: `^1.2.0`, `~2`, `>=1 <3`, `1.x || 3.x`. */
export function isVersionRequirement(text: string): boolean {
  return semver.validRange(text) !== null
}

/**
 * The version that a requirement means, or null when none satisfies it. Without a requirement: the highest that is no
 * prerelease. Prereleases are taken only where the requirement names one (npm's rule): nobody gets one by surprise,
 * not even where there is nothing else.
 */
export function resolveVersion(versions: readonly string[], requirement = '*'): string | null {
  return semver.maxSatisfying(versions, requirement)
}
