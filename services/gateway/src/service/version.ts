import { readFileSync } from 'node:fs'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }

/** All parts of Slipway are released together, under one version. */
export const SERVER_VERSION = manifest.version
