import { readFileSync } from 'node:fs'

/** The path is the same from the source, the compiled file and the bundle. */
export const { version: CLI_VERSION } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string }
