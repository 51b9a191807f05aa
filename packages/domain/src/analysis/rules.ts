import type { Rule } from './rule.ts'
import { ENDING } from './rules/ending.ts'
import { MACHINE } from './rules/machine.ts'
import { TOOLS } from './rules/tools.ts'

/** Names the whole set: a change of what it says of a failure gives it another number. */
export const RULES_VERSION = 'rules-1'

/** Of several that are equally sure of the same line, the first is taken. */
export const RULES: readonly Rule[] = [...TOOLS, ...MACHINE, ...ENDING]
