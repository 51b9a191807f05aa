import { generateKeyPairSync } from 'node:crypto'

/** A new private key for SSH in PEM form. */
export const newPrivateKey = () =>
  String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }))
