import { readFileSync } from 'node:fs'

/** The version in package.json, which stands beside the folder of this file and of the bundle. */
export const { version: CLI_VERSION } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string }
