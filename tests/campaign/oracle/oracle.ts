import { acceptance } from './acceptance.ts'
import { behaviour } from './behaviour.ts'
import { capacity } from './capacity.ts'
import type { Evidence, Violation } from './evidence.ts'
import { execution } from './execution.ts'
import { logs } from './logs.ts'
import { messages } from './messages.ts'
import { outsiders } from './outsiders.ts'
import { secrets } from './secrets.ts'

/** All violations that the evidence of a round shows. */
export const judge = (evidence: Evidence): Violation[] =>
  [acceptance, execution, capacity, messages, logs, behaviour, secrets, outsiders]
    .flat()
    .flatMap((check) => check(evidence))
