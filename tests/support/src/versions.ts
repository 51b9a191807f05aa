import { SLIPWAY_VERSION } from '@slipway/runtime'

const [major = 0, minor = 0] = SLIPWAY_VERSION.split('.').map(Number)

/** Versions that differ from that of the product in one part, whatever version it has. */
export const OTHER_VERSIONS = {
  patch: `${major}.${minor}.97`,
  minor: `${major}.${minor + 1}.0`,
  major: `${major + 1}.0.0`,
} as const
