import fs from 'node:fs'
import path from 'node:path'
import type { Io } from '../io.ts'
import { getConfigurationPath } from './file.ts'

/** Remembers the last deployment for `@last`. It has a file of its own: a race must not lose a session. */

type LastRuns = Record<string, string>

const getPath = (io: Io) => path.join(path.dirname(getConfigurationPath(io)), 'last.json')

function readLastRuns(io: Io): LastRuns {
  try {
    return JSON.parse(fs.readFileSync(getPath(io), 'utf8')) as LastRuns
  } catch {
    return {}
  }
}

/** Returns the id of the last deployment or request that was started at this server. */
export const readLastRun = (io: Io, url: string): string | undefined => readLastRuns(io)[url]

/** Does nothing where there is no home, as in some pipelines. */
export function rememberLastRun(io: Io, url: string, id: string): void {
  try {
    const file = getPath(io)
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    const temporaryFile = `${file}.${crypto.randomUUID()}`
    fs.writeFileSync(temporaryFile, JSON.stringify({ ...readLastRuns(io), [url]: id }), { mode: 0o600 })
    fs.renameSync(temporaryFile, file)
  } catch {
    // The deployment has started. That it cannot be named @last is no failure.
  }
}
