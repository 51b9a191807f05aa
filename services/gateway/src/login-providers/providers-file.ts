import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { compile, Name, PROVIDER_ID } from '@slipway/contracts'
import { isObject } from '@slipway/http'
import { ConfigurationError, type Logger } from '@slipway/runtime'
import { LineCounter, parseDocument } from 'yaml'

const VARIABLE = 'SLIPWAY_OIDC_FILE'
const MAX_BYTES = 1024 * 1024
const CHECK_MS = 1_000
const DEFAULT_SCOPES = ['openid', 'email', 'profile']

const Strict = { additionalProperties: false }
const Text = Type.String({ minLength: 1, maxLength: 255 })
const Names = Type.Array(Text, { minItems: 1, maxItems: 100, uniqueItems: true })
const Secret = Type.String({ minLength: 1, maxLength: 4_096 })

const Rule = Type.Object(
  {
    claim: Text,
    value: Type.Union([Text, Type.Number(), Type.Boolean()]),
    roles: Names,
    tenant: Type.Optional(Text),
    environments: Type.Optional(Names),
    solutions: Type.Optional(Names),
  },
  Strict,
)

const GivenProvider = Type.Object(
  {
    id: Type.String({ pattern: PROVIDER_ID }),
    name: Name,
    issuer: Type.String({ minLength: 1, maxLength: 2_000 }),
    client_id: Text,
    client_secret: Type.Optional(Secret),
    client_secret_file: Type.Optional(Text),
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: '^[!#-\\[\\]-~]{1,255}$' }), { minItems: 1, maxItems: 50 }),
    ),
    rules: Type.Array(Rule, { maxItems: 1_000 }),
    default_roles: Type.Optional(Names),
    link_by_email: Type.Optional(Type.Boolean()),
  },
  Strict,
)
type GivenProvider = Static<typeof GivenProvider>

const Content = Type.Object({ providers: Type.Array(GivenProvider, { maxItems: 50 }) }, Strict)
type Content = Static<typeof Content>
const problemsOf = compile(Content)

/** An OpenID Connect provider with which users log in. A changed file makes new objects. */
export interface Provider extends Omit<GivenProvider, 'client_secret_file'> {
  client_secret: string
  scopes: string[]
}

interface Source {
  file: string
  /** Allows plain HTTP to a provider on this machine. */
  isDevelopment: boolean
}

/** What is wrong with the file, at which place. It holds no secret. */
class FileProblem extends Error {
  override name = 'FileProblem'
}

/**
 * Reads the providers.
 * @throws ConfigurationError that names the entry and the field of each problem
 */
export function readProviders(source: Source): Provider[] {
  try {
    return parse(source, contentsOf(source))
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error
    throw new ConfigurationError([{ variable: VARIABLE, problem: `names ${source.file}: ${error.message}` }])
  }
}

export interface Providers {
  /** The providers of the last file that was valid. */
  all(): readonly Provider[]
  /** Ends the watch of the file. */
  stop(): void
}

export const NO_PROVIDERS: Providers = { all: () => [], stop() {} }

interface WatchOptions extends Source {
  logger: Logger
  /** The time between two readings, by default a second. */
  checkMs?: number
  onChange?(providers: readonly Provider[]): void
}

/**
 * Reads the providers now, and again whenever the file or the file of a secret changes. A change counts after two equal readings,
 * because a file may be half written. A change that is not valid is logged, and the old content stays in use.
 * @throws ConfigurationError if the file is not valid now
 */
export function watchProviders({ logger, checkMs = CHECK_MS, onChange, ...source }: WatchOptions): Providers {
  let providers = readProviders(source)
  let handled = versionOf(source)
  let seen = handled
  const check = () => {
    const version = versionOf(source)
    const isSettled = version === seen
    seen = version
    if (!isSettled || version === handled) return
    handled = version
    try {
      providers = parse(source, contentsOf(source))
      logger.info('the changed file of the login providers applies', { file: source.file, providers: idsOf(providers) })
      onChange?.(providers)
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error
      const problem = error.message
      logger.error('the changed file of the login providers cannot be used: the old content stays in use', {
        file: source.file,
        problem,
      })
    }
  }
  const timer = setInterval(check, checkMs)
  timer.unref()
  return { all: () => providers, stop: () => clearInterval(timer) }
}

const idsOf = (providers: readonly Provider[]) => providers.map(({ id }) => id)

/** A text that changes when the file, or a file of a secret that it names, changes. */
function versionOf(source: Source): string {
  try {
    const text = contentsOf(source)
    return [text, ...secretFilesOf(text).map((file) => stamp(secretPath(source, file)))].join('\0')
  } catch (error) {
    return String(error)
  }
}

function secretFilesOf(text: string): string[] {
  try {
    return decode(text).providers.flatMap(({ client_secret_file }) => client_secret_file ?? [])
  } catch {
    // Until the text changes, it is not valid.
    return []
  }
}

function stamp(file: string): string {
  const status = statSync(file, { throwIfNoEntry: false })
  return status === undefined ? 'none' : `${status.ino} ${status.size} ${status.mtimeMs} ${status.ctimeMs}`
}

function contentsOf({ file }: Source): string {
  const text = readText(file)
  if (text === null) throw new FileProblem('the file cannot be read')
  if (Buffer.byteLength(text) > MAX_BYTES) throw new FileProblem('the file is larger than 1 MiB')
  return text
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function parse(source: Source, text: string): Provider[] {
  const content = decode(text)
  return content.providers.map((provider, index) => {
    const place = (field: string) => placeOf(content, `/providers/${index}/${field}`)
    const before = content.providers.slice(0, index)
    if (before.some(({ id }) => id === provider.id)) throw new FileProblem(`${place('id')} is used twice`)
    // Users are known by issuer and subject: they would choose the rules that apply.
    const same = before.find(({ issuer }) => issuer === provider.issuer)
    if (same !== undefined) throw new FileProblem(`${place('issuer')} is that of the provider ${same.id}, too`)
    return checked(source, provider, place)
  })
}

/** JSON is YAML, too. */
function decode(text: string): Content {
  const lines = new LineCounter()
  // A warning would have a part of the text, which may be a secret.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const [error] = document.errors
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0])
    // Without the message: it may have a part of the text, too.
    throw new FileProblem(`line ${line}, column ${col} is not valid YAML: ${error.code}`)
  }
  const value = plainValueOf(document)
  if (isContent(value)) return value
  throw new FileProblem(
    problemsOf(value)
      .map(({ path, message }) => `${placeOf(value, path)} ${message}`)
      .join('; '),
  )
}

const isContent = (value: unknown): value is Content => problemsOf(value).length === 0

function plainValueOf(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS()
  } catch {
    // Aliases that would fill the memory.
    throw new FileProblem('the file has too many aliases')
  }
}

/** `/providers/0/rules/1/claim` becomes `providers[0] "keycloak": rules[1].claim`. */
function placeOf(content: unknown, pointer: string): string {
  const [list = '', index, ...rest] = pointer.split('/').slice(1)
  if (index === undefined) return list || 'the file'
  const id = idOf(content, Number(index))
  const field = rest.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join('')
  return `${list}[${index}]${id}${field === '' ? '' : `: ${field.slice(1)}`}`
}

/** The id of an entry, as far as the content has the right form. */
function idOf(content: unknown, index: number): string {
  const entries = isObject(content) ? content['providers'] : undefined
  const entry: unknown = Array.isArray(entries) ? entries[index] : undefined
  const id = isObject(entry) ? entry['id'] : undefined
  return typeof id === 'string' ? ` ${JSON.stringify(id.slice(0, 64))}` : ''
}

function checked(
  source: Source,
  { client_secret, client_secret_file, ...provider }: GivenProvider,
  place: (field: string) => string,
): Provider {
  const wrongIssuer = issuerProblem(provider.issuer, source.isDevelopment)
  if (wrongIssuer !== null) throw new FileProblem(`${place('issuer')} ${wrongIssuer}`)
  const asked = provider.scopes ?? DEFAULT_SCOPES
  if (!asked.includes('openid')) throw new FileProblem(`${place('scopes')} must contain openid`)
  if ((client_secret === undefined) === (client_secret_file === undefined)) {
    throw new FileProblem(`${place('client_secret')} needs a value, or client_secret_file, and not both`)
  }
  return {
    ...provider,
    scopes: asked,
    client_secret: client_secret ?? secretOf(source, client_secret_file ?? '', place),
  }
}

const secretPath = ({ file }: Source, secretFile: string) => path.resolve(path.dirname(file), secretFile)

function secretOf(source: Source, file: string, place: (field: string) => string): string {
  const secret = readText(secretPath(source, file))?.replace(/\r?\n$/, '')
  if (!secret) throw new FileProblem(`${place('client_secret_file')} names a file that is empty or cannot be read`)
  return secret
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

function issuerProblem(text: string, isDevelopment: boolean): string | null {
  if (!URL.canParse(text)) return 'must be a URL'
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  if (username !== '' || password !== '' || search !== '' || hash !== '') {
    return 'must be a URL without user name, query and fragment'
  }
  if (protocol === 'https:') return null
  if (protocol === 'http:' && LOOPBACK.test(hostname)) {
    return isDevelopment ? null : 'must begin with https://; http:// to this machine needs SLIPWAY_DEVELOPMENT=true'
  }
  return 'must begin with https://'
}
