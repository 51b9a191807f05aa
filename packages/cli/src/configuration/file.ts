import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Session, SessionStore } from '@slipway/client'
import { Refused } from '../exit-code.ts'

/** What `slipway login` remembers. */
interface Configuration {
  /** The server of the last login. */
  url?: string
  /** By the address of the server. */
  sessions?: Record<string, Session>
}

export function configurationFile(): string {
  const base = process.env['XDG_CONFIG_HOME'] || path.join(os.homedir(), '.config')
  return path.join(base, 'slipway', 'config.json')
}

export function readConfiguration(): Configuration {
  const file = configurationFile()
  let text: string
  try {
    if ((fs.statSync(file).mode & 0o077) !== 0) throw new Refused(`${file} can be read by others: chmod 600 ${file}`)
    text = fs.readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  try {
    return JSON.parse(text) as Configuration
  } catch {
    throw new Refused(`${file} is no JSON: remove it and log in again`)
  }
}

/** Changes the file as a whole, so that another process never reads half of it. */
function change(edit: (configuration: Configuration) => void): void {
  const file = configurationFile()
  const configuration = readConfiguration()
  edit(configuration)
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const made = `${file}.${process.pid}`
  fs.writeFileSync(made, `${JSON.stringify(configuration, null, 2)}\n`, { mode: 0o600 })
  fs.renameSync(made, file)
}

export function rememberServer(url: string): void {
  change((configuration) => {
    configuration.url = url
  })
}

/** The sessions of one server, kept where every call of the command line finds them. */
export function sessionsOf(url: string): SessionStore {
  return {
    load: () => readConfiguration().sessions?.[url],
    save: (session) =>
      change((configuration) => {
        const { [url]: _, ...others } = configuration.sessions ?? {}
        configuration.sessions = session ? { ...others, [url]: session } : others
      }),
  }
}
