// Reads the private keys and host keys of SSH targets, and says what is wrong with them. Without I/O.

export { fingerprint, type HostKey, readHostKey } from './host-key.ts'
export { type PrivateKey, readPrivateKey } from './private-key.ts'
export { KeyProblem } from './problem.ts'
