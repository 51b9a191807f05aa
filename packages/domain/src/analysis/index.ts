// Explains why a command failed, from its output, exit code and interpreter. Rules without I/O.

export * from './analyse.ts'
export type { Failure } from './failure.ts'
export { AREAS, type Rule } from './rule.ts'
export { RULES, RULES_VERSION } from './rules.ts'
