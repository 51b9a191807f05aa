import path from 'node:path'
import type { Command } from 'commander'
import { UsageError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { readConfiguration } from './file.ts'

const DEFAULT_URL = 'http://127.0.0.1:8080'

/** The options of every command. */
export interface GlobalOptions {
  url?: string
  context?: string
  caFile?: string
  /** Milliseconds. */
  requestTimeout?: number
}

/** The server that a command talks to. */
export interface Server {
  url: string
  /** The name of its context, if it was chosen by one. */
  context?: string
  /** The path of a file with certificates of authorities. */
  caFile?: string
}

/** Chooses the server: --url, --context, SLIPWAY_URL, SLIPWAY_CONTEXT, the context in use, the last login. */
export function chooseServer(io: Io, command: Command): Server {
  const options = command.optsWithGlobals<GlobalOptions>()
  if (options.url !== undefined && options.context !== undefined) {
    throw new UsageError('--url and --context both name a server: give one of them')
  }
  const { url, context, caFile } = findServer(io, options)
  const chosenFile = options.caFile ?? (io.env['SLIPWAY_CA_FILE'] || caFile)
  return {
    url: checkUrl(url),
    ...(context === undefined ? {} : { context }),
    ...(chosenFile === undefined ? {} : { caFile: path.resolve(chosenFile) }),
  }
}

/** Returns the address that is configured, for texts: undefined if there is none, or none that counts. */
export function findConfiguredUrl(io: Io, command: Command): string | undefined {
  try {
    const { url } = findServer(io, command.optsWithGlobals<GlobalOptions>(), '')
    return url === '' ? undefined : checkUrl(url)
  } catch {
    return undefined
  }
}

function findServer(io: Io, { url, context }: GlobalOptions, otherwise = DEFAULT_URL): Server {
  if (url) return { url }
  if (context !== undefined) return readContext(io, context)
  const { SLIPWAY_URL, SLIPWAY_CONTEXT } = io.env
  if (SLIPWAY_URL) return { url: SLIPWAY_URL }
  if (SLIPWAY_CONTEXT) return readContext(io, SLIPWAY_CONTEXT)
  const configuration = readConfiguration(io)
  if (configuration.context !== undefined) return readContext(io, configuration.context)
  return { url: configuration.url || otherwise }
}

/** @throws UsageError if there is no context of this name */
export function readContext(io: Io, name: string): Server {
  const { contexts = {} } = readConfiguration(io)
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (context === undefined) {
    const known = Object.keys(contexts).join(', ') || 'none'
    throw new UsageError(
      `there is no context "${name}" (there are: ${known}): make it with \`slipway login --context ${name} --url URL\``,
    )
  }
  return { url: context.url, context: name, ...(context.ca_file === undefined ? {} : { caFile: context.ca_file }) }
}

/**
 * Returns the address without the path of the API, which people copy with it.
 * @throws UsageError if it is not an HTTP address
 */
export function checkUrl(given: string): string {
  const url = given.trim()
  if (!/^https?:$/.test(getProtocol(url))) {
    const isBare = /^[\w.-]+(:\d+)?(\/|$)|^\[[\da-f:]+\]/i.test(url)
    const example = isBare ? `: write http://${url}, or https://${url}` : ''
    throw new UsageError(`the address of the server is "${url}": it must begin with http:// or https://${example}`)
  }
  return url.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
}

function getProtocol(url: string): string {
  try {
    return new URL(url).protocol
  } catch {
    return ''
  }
}
