// Reads the scripts of actions with a grammar of their language, and finds where a value may be inserted.
export type { ScriptWarning } from './found.ts'
export { type ReadScript, readScript } from './read.ts'
export { MAX_SCRIPT_BYTES, ScriptReader, UnreadableScript } from './reader.ts'
