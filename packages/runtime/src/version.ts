import { readFileSync } from 'node:fs'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** All parts of Slipway have the same version. */
export const SLIPWAY_VERSION = manifest.version

/** `MAJOR.MINOR`. Instances and Slipway must have the same, because the wire format may change between them. */
export const COMPATIBLE_VERSION = releaseLine(SLIPWAY_VERSION) as string

/** Whether an instance of this version works with this Slipway. */
export const isCompatible = (version: string) => releaseLine(version) === COMPATIBLE_VERSION

/** Whether an agent and an instance of these versions work together. */
export const isSameMajor = (version: string, other = SLIPWAY_VERSION) =>
  /^\d+\.\d+\./.test(version) && version.split('.')[0] === other.split('.')[0]

function releaseLine(version: string): string | undefined {
  return /^(\d+\.\d+)\./.exec(version)?.[1]
}
