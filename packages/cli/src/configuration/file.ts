import fs from 'node:fs'
import path from 'node:path'
import type { Session, SessionStore } from '@slipway/client'
import { RefusedError } from '../exit-code.ts'
import type { Io } from '../io.ts'

/** What `slipway login` and `slipway context` store. */
interface Configuration {
  /** The server of the last login without a context. */
  url?: string
  /** Sessions by the URL of their server; those of contexts are stored with these. */
  sessions?: Record<string, Session>
  contexts?: Record<string, NamedContext>
  /** The name of the context in use. */
  context?: string
}

/** A server under a name, with a login of its own. */
export interface NamedContext {
  url: string
  /** The absolute path of a file with certificates of authorities. */
  ca_file?: string
  session?: Session
}

export function getConfigurationPath({ env, home }: Io): string {
  const base = env['XDG_CONFIG_HOME'] || path.join(home, '.config')
  return path.join(base, 'slipway', 'config.json')
}

export function readConfiguration(io: Io): Configuration {
  const file = getConfigurationPath(io)
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
export function updateConfiguration(io: Io, edit: (configuration: Configuration) => void): void {
  const file = getConfigurationPath(io)
  const configuration = readConfiguration(io)
  edit(configuration)
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const temporaryFile = `${file}.${crypto.randomUUID()}`
  fs.writeFileSync(temporaryFile, `${JSON.stringify(configuration, null, 2)}\n`, { mode: 0o600 })
  fs.renameSync(temporaryFile, file)
}

/** Returns a store for the session of a context, or of one server, which keeps the session in the configuration file. */
export function createSessionStore(io: Io, url: string, context?: string): SessionStore {
  if (context !== undefined) return createContextSessionStore(io, context)
  return {
    load: () => readConfiguration(io).sessions?.[url],
    save: (session) =>
      updateConfiguration(io, (configuration) => {
        const { [url]: _, ...others } = configuration.sessions ?? {}
        configuration.sessions = session ? { ...others, [url]: session } : others
      }),
  }
}

function createContextSessionStore(io: Io, name: string): SessionStore {
  return {
    load: () => readConfiguration(io).contexts?.[name]?.session,
    save: (session) =>
      updateConfiguration(io, ({ contexts = {} }) => {
        const context = contexts[name]
        if (context === undefined) return
        const { session: _, ...rest } = context
        contexts[name] = session ? { ...rest, session } : rest
      }),
  }
}
