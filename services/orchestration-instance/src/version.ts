import { readFileSync } from 'node:fs'

/** Slipway's version: an instance fits a bridge of the same major and minor version. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version
