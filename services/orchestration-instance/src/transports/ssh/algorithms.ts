import type { ConnectConfig } from 'ssh2'

/** Key exchange algorithms without SHA-1, the cheapest first. */
export const KEY_EXCHANGES = [
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'ecdh-sha2-nistp256',
  'ecdh-sha2-nistp384',
  'ecdh-sha2-nistp521',
  'diffie-hellman-group-exchange-sha256',
  'diffie-hellman-group14-sha256',
  'diffie-hellman-group15-sha512',
  'diffie-hellman-group16-sha512',
  'diffie-hellman-group17-sha512',
  'diffie-hellman-group18-sha512',
] as const
export type KeyExchange = (typeof KEY_EXCHANGES)[number]

const CIPHERS = [
  'aes128-gcm@openssh.com',
  'aes256-gcm@openssh.com',
  'chacha20-poly1305@openssh.com',
  'aes128-ctr',
  'aes192-ctr',
  'aes256-ctr',
] as const
const MACS = [
  'hmac-sha2-256-etm@openssh.com',
  'hmac-sha2-512-etm@openssh.com',
  'hmac-sha2-256',
  'hmac-sha2-512',
] as const

/** The types of host keys, each with the signature algorithms to ask for. */
export const HOST_KEY_KINDS: Readonly<Record<string, readonly string[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
}

/** The algorithms to offer to a host. The defaults of the library include SHA-1. */
export function algorithmsOf(
  keyExchanges: readonly KeyExchange[],
  hostKeys: readonly string[] | null,
): NonNullable<ConnectConfig['algorithms']> {
  return {
    kex: [...keyExchanges],
    cipher: [...CIPHERS],
    hmac: [...MACS],
    serverHostKey: [...(hostKeys ?? Object.values(HOST_KEY_KINDS).flat())] as never,
  }
}
