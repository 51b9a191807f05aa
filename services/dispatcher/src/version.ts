import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** Instances must match it: the wire format between them and Slipway changes with the minor version. */
export const COMPATIBLE_VERSION = version.split('.').slice(0, 2).join('.')
