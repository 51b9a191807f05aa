// Reads the scripts of actions with the grammar of their language: where a value may be inserted, and how it is quoted.

export type { ScriptWarning } from './found.ts'
export { type ReadScript, readScript } from './read.ts'
export { MAX_SCRIPT_BYTES, ScriptReader, UnreadableScript } from './reader.ts'
