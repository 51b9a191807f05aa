// What one clone's suite runs with: ports, the first administrator, generated keys.
import { randomBytes, randomInt } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '../..')
export const stateDir = path.join(root, '.slipway')
/** Where the suite's instance reads the token with which it joins. */
export const joinTokenFile = path.join(stateDir, 'join-token')
const file = path.join(stateDir, 'settings.env')

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'
const password = () => Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
const key = () => `k1:${randomBytes(32).toString('base64')}`

const GENERATED = {
  SLIPWAY_ADMIN_EMAIL: () => 'admin@slipway.local',
  SLIPWAY_ADMIN_PASSWORD: password,
  SLIPWAY_ENCRYPTION_KEYS: key,
  SLIPWAY_JWT_KEYS: key,
}

function read() {
  if (!fs.existsSync(file)) return {}
  const pairs = fs.readFileSync(file, 'utf8').matchAll(/^(\w+)=(.*)$/gm)
  return Object.fromEntries([...pairs].map(([, name, value]) => [name, value]))
}

/**
 * The settings that every start shares, made once and kept in .slipway/settings.env, which only its owner may read.
 * The environment wins. Secrets of the environment are not written down. The file also has port and URL of the gateway, so
 * that a later start without SLIPWAY_PORT uses the same port.
 */
export function settings() {
  const { gateway } = ports()
  const kept = { ...read(), SLIPWAY_PORT: gateway }
  const missing = Object.keys(GENERATED).filter((name) => !kept[name] && !process.env[name])
  for (const name of missing) kept[name] = GENERATED[name]()
  const lines = Object.entries(kept).map(([name, value]) => `${name}=${value}\n`)
  // Exported: a shell that reads this file calls the server of this clone, on whatever port.
  const text = [...lines, `export SLIPWAY_URL=http://127.0.0.1:${gateway}\n`].join('')
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) {
    fs.mkdirSync(stateDir, { recursive: true })
    fs.writeFileSync(`${file}.new`, text, { mode: 0o600 })
    fs.renameSync(`${file}.new`, file)
  }
  return Object.fromEntries(Object.keys(GENERATED).map((name) => [name, process.env[name] || kept[name]]))
}

/** A port from the environment, else the default, if there is one; throws an Error that names the variable. */
function port(variable, otherwise) {
  const text = process.env[variable]
  return text ? parsePort(text, variable) : otherwise
}

/** The gateway's port of the last start; undefined before the first one. */
function storedPort() {
  const text = read().SLIPWAY_PORT
  return text ? parsePort(text, `SLIPWAY_PORT in ${path.relative(root, file)}`) : undefined
}

function parsePort(text, origin) {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1 || number > 65_535) {
    throw new Error(`${origin} is "${text}": it must be a port, 1 to 65535`)
  }
  return number
}

/** Where everything listens: next to the gateway's port, so that one variable moves the whole suite. */
export function ports() {
  const gateway = port('SLIPWAY_PORT') ?? storedPort() ?? 8080
  return {
    gateway,
    logStream: port('SLIPWAY_LOG_STREAM_PORT', gateway + 1),
    bridge: port('SLIPWAY_BRIDGE_PORT', gateway + 2),
    management: port('SLIPWAY_MANAGEMENT_PORT', gateway + 10),
    // Absent in most suites, also in what is kept of their ports.
    ...(process.env.OIDC === '1' ? { oidc: port('SLIPWAY_OIDC_PORT', gateway + 3) } : {}),
  }
}
