export * from './analyse.ts'
export type { Failure } from './failure.ts'
export { AREAS, type Rule } from './rule.ts'
export { RULES, RULES_VERSION } from './rules.ts'
