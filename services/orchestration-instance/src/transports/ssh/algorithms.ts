import type { ConnectConfig } from 'ssh2'

/** Ways to agree on keys, the cheapest first. None rests on SHA-1. */
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

/** Kinds of host key, each with the ways of signing that are asked for it. */
export const HOST_KEY_KINDS: Readonly<Record<string, readonly string[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
}

/** What is offered to a host. The library's own lists have SHA-1 in them. */
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
