export { fingerprint, type HostKey, readHostKey } from './host-key.ts'
export { type PrivateKey, readPrivateKey } from './private-key.ts'
export { KeyProblem } from './problem.ts'
