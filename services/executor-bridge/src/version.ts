import { createRequire } from 'node:module'

const manifest = createRequire(import.meta.url)('../package.json') as { version: string }

/** Slipway's version, which all its services share. */
export const SLIPWAY_VERSION = manifest.version

/** Instances and services must match in major and minor version; patches are free. */
export function isCompatible(version: string, slipway = SLIPWAY_VERSION): boolean {
  const line = (text: string) => /^(\d+)\.(\d+)\./.exec(text)?.slice(1).join('.')
  return line(version) !== undefined && line(version) === line(slipway)
}
