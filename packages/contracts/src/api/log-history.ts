import { Type } from '@sinclair/typebox'
import { Id, literals, Strict, Uuid, withOptions } from '../schema.ts'
import { IntegerText, SearchText } from './common.ts'

export const LOG_LEVELS = ['info', 'warning', 'error'] as const
export const LOG_STREAMS = ['stdout', 'stderr', 'system'] as const

const describe = (description: string) => ({ description })

/** Filters are combined with "and". `offset` and `from` say where to begin, so filters do not change what they count. */
export const LogQuery = Strict({
  offset: Type.Optional(withOptions(IntegerText, describe('Lines to skip, whether they match or not; 0 when omitted'))),
  from: Type.Optional(
    withOptions(IntegerText, describe('Number of the first line, instead of `offset`; X-Log-Next of the page before')),
  ),
  limit: Type.Optional(IntegerText),
  target_id: Type.Optional(withOptions(Id('target'), describe('Only lines of this target'))),
  action_id: Type.Optional(withOptions(Id('action'), describe('Only lines of the steps with this action'))),
  step_id: Type.Optional(withOptions(Uuid, describe('Only lines of this step'))),
  level: Type.Optional(withOptions(literals(LOG_LEVELS), describe('Only lines of this level'))),
  stream: Type.Optional(
    withOptions(literals(LOG_STREAMS), describe('Only lines of this origin; `system` are the sentences of Slipway')),
  ),
  search: Type.Optional(
    withOptions(
      SearchText,
      describe('Only lines that contain this text, in upper or lower case. Colour codes in a line do not count'),
    ),
  ),
})

/** Headers of a page of the log; integers. */
export const LOG_HEADERS = {
  'X-Log-First': 'Number of the first stored line. It is not 0 if retention has dropped earlier lines',
  'X-Log-Lines': 'How many lines the log has: one more than the number of its last line',
  'X-Log-Next':
    'Where the next page begins (`from`). The end is reached when it equals X-Log-Lines. With a filter, a page may have ' +
    'fewer lines than `limit`, or none, before the end: a request looks through the log for about a second',
} as const
