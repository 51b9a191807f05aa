import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Session, SessionStore } from '@slipway/client'
import { RefusedError } from '../exit-code.ts'

/** What `slipway login` stores. */
interface Configuration {
  /** The server of the last login. */
  url?: string
  /** Sessions by the URL of their server. */
  sessions?: Record<string, Session>
}

export function getConfigurationPath(): string {
  const base = process.env['XDG_CONFIG_HOME'] || path.join(os.homedir(), '.config')
  return path.join(base, 'slipway', 'config.json')
}

export function readConfiguration(): Configuration {
  const file = getConfigurationPath()
  let text: string
  try {
    if ((fs.statSync(file).mode & 0o077) !== 0)
      throw new RefusedError(`${file}: other users can read this file; run chmod 600 ${file}`)
    text = fs.readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  try {
    return JSON.parse(text) as Configuration
  } catch {
    throw new RefusedError(`${file} is not valid JSON: remove it and log in again`)
  }
}

/** Replaces the file by a rename: another process must not read a partial file. */
function updateConfiguration(edit: (configuration: Configuration) => void): void {
  const file = getConfigurationPath()
  const configuration = readConfiguration()
  edit(configuration)
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const temporaryFile = `${file}.${process.pid}`
  fs.writeFileSync(temporaryFile, `${JSON.stringify(configuration, null, 2)}\n`, { mode: 0o600 })
  fs.renameSync(temporaryFile, file)
}

export function rememberServer(url: string): void {
  updateConfiguration((configuration) => {
    configuration.url = url
  })
}

/** Returns a store for the session of one server, which keeps the session in the configuration file. */
export function createSessionStore(url: string): SessionStore {
  return {
    load: () => readConfiguration().sessions?.[url],
    save: (session) =>
      updateConfiguration((configuration) => {
        const { [url]: _, ...others } = configuration.sessions ?? {}
        configuration.sessions = session ? { ...others, [url]: session } : others
      }),
  }
}
