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
 * The environment wins, and what it says is not written down. The file also has the URL of the gateway.
 */
export function settings() {
  const kept = read()
  const missing = Object.keys(GENERATED).filter((name) => !kept[name] && !process.env[name])
  for (const name of missing) kept[name] = GENERATED[name]()
  const lines = Object.entries(kept).map(([name, value]) => `${name}=${value}\n`)
  // Exported: a shell that reads this file calls the server of this clone, on whatever port.
  const text = [...lines, `export SLIPWAY_URL=http://127.0.0.1:${ports().gateway}\n`].join('')
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) {
    fs.mkdirSync(stateDir, { recursive: true })
    fs.writeFileSync(`${file}.new`, text, { mode: 0o600 })
    fs.renameSync(`${file}.new`, file)
  }
  return Object.fromEntries(Object.keys(GENERATED).map((name) => [name, process.env[name] || kept[name]]))
}

/** A port from the environment, else the default; throws an Error that names the variable. */
function port(variable, otherwise) {
  const text = process.env[variable]
  if (!text) return otherwise
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1 || number > 65_535) {
    throw new Error(`${variable} is "${text}": it must be a port, 1 to 65535`)
  }
  return number
}

/** Where everything listens: next to the gateway's port, so that one variable moves the whole suite. */
export function ports() {
  const gateway = port('SLIPWAY_PORT', 8080)
  return {
    gateway,
    logStream: port('SLIPWAY_LOG_STREAM_PORT', gateway + 1),
    bridge: port('SLIPWAY_BRIDGE_PORT', gateway + 2),
    management: port('SLIPWAY_MANAGEMENT_PORT', gateway + 10),
  }
}
