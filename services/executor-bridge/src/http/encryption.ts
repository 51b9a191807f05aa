import { lookup } from 'node:dns/promises'
import { BlockList } from 'node:net'
import { type KeyPairFiles, readKeyPair } from '@slipway/http'
import { ConfigurationError } from '@slipway/runtime'
import type { BridgeConfig } from '../config.ts'

const CERT = 'SLIPWAY_BRIDGE_TLS_CERT_FILE'
const KEY = 'SLIPWAY_BRIDGE_TLS_KEY_FILE'
const PLAIN = 'SLIPWAY_BRIDGE_PLAIN'

type Settings = Pick<BridgeConfig, typeof CERT | typeof KEY | typeof PLAIN | 'SLIPWAY_BRIDGE_HOST'>

/**
 * The certificate files for HTTPS, or null for plain HTTP. Credentials and the secrets of runs pass here, so plain HTTP beyond
 * this machine needs a setting.
 * @throws ConfigurationError
 */
export async function keyPairFilesOf(config: Settings): Promise<KeyPairFiles | null> {
  const { [CERT]: certificate, [KEY]: key, [PLAIN]: plain, SLIPWAY_BRIDGE_HOST: host } = config
  if (certificate !== undefined && key !== undefined) {
    if (plain) throw wrong(PLAIN, `is true, but ${CERT} is set as well: unset one of them`)
    const files = { certificate: { variable: CERT, file: certificate }, key: { variable: KEY, file: key } }
    // A wrong pair ends the process at its start.
    readKeyPair(files)
    return files
  }
  if (certificate !== undefined) throw wrong(KEY, `is missing: ${CERT} is set, and HTTPS needs both`)
  if (key !== undefined) throw wrong(CERT, `is missing: ${KEY} is set, and HTTPS needs both`)
  if (plain || (await isLoopback(host))) return null
  const problem = `is missing: SLIPWAY_BRIDGE_HOST is ${host}, which other machines reach. Set ${CERT} and ${KEY}, or ${PLAIN}=true where the network encrypts by itself`
  throw wrong(CERT, problem)
}

const wrong = (variable: string, problem: string) => new ConfigurationError([{ variable, problem }])

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether only this machine reaches the address. A host without an address is not loopback: listening fails later. */
async function isLoopback(host: string): Promise<boolean> {
  const addresses = await lookup(host, { all: true }).catch(() => [])
  const isLocal = ({ address, family }: { address: string; family: number }) =>
    loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
  return addresses.length > 0 && addresses.every(isLocal)
}
