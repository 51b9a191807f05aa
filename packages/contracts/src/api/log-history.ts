import { Type } from '@sinclair/typebox'
import { describe, Id, literals, Ref, Strict } from '../schema.ts'
import { IntegerText, SearchText } from './common.ts'

export const LOG_LEVELS = ['info', 'warning', 'error'] as const
export const LOG_STREAMS = ['stdout', 'stderr', 'system'] as const

/** Which lines. Filters are combined with "and". */
const filters = {
  target_id: Type.Optional(Id('target', 'Only lines of this target')),
  action_id: Type.Optional(Id('action', 'Only lines of the steps with this action')),
  step_id: Type.Optional(Ref('step', 'Only lines of this step')),
  level: Type.Optional(describe(literals(LOG_LEVELS), 'Only lines of this level', 'error')),
  stream: Type.Optional(
    describe(literals(LOG_STREAMS), 'Only lines of this origin; `system` are the sentences of Slipway', 'stderr'),
  ),
  search: Type.Optional(
    describe(
      SearchText,
      'Only lines that contain this text, in upper or lower case. Colour codes in a line do not count',
      'refused',
    ),
  ),
}

/** `offset`, `from` and `before` say where to begin, so filters do not change what they count. */
export const LogQuery = Strict({
  offset: Type.Optional(
    describe(
      IntegerText,
      'Lines to skip from the first stored line on, whether they match or not; 0 when omitted',
      '0',
    ),
  ),
  from: Type.Optional(
    describe(
      IntegerText,
      'Number of the first line; X-Log-Next of the page before. Together with `offset` it is refused',
      '100',
    ),
  ),
  before: Type.Optional(
    describe(
      IntegerText,
      'Looks backward from the line before this number, and returns the last lines, in the order of their numbers. ' +
        'X-Log-Next is then `before` of the next page. Together with `offset` or `from` it is refused',
      '400',
    ),
  ),
  limit: Type.Optional(
    describe(
      IntegerText,
      'Lines to return, 1 to 1,000; 100 when omitted. A value out of range becomes the nearest',
      '100',
    ),
  ),
  ...filters,
})

export const LogTextQuery = Strict({
  from: Type.Optional(describe(IntegerText, 'Number of the first line; 0 when omitted', '100')),
  raw: Type.Optional(
    describe(
      literals(['true', 'false']),
      'Whether a line is the output alone, with its escape sequences; else time, target and text, separated by tabs',
      'true',
    ),
  ),
  ...filters,
})

/** Headers of a page of the log; integers. */
export const LOG_HEADERS = {
  'X-Log-First': 'Number of the first stored line. It is not 0 if retention has dropped earlier lines',
  'X-Log-Lines': 'How many lines the log has: one more than the number of its last line',
  'X-Log-Next':
    'Where the next page begins (`from`). The end is reached when it equals X-Log-Lines. With a filter, a page may have ' +
    'fewer lines than `limit`, or none, before the end: a request looks through the log for about a second. With `before`, ' +
    'the next page ends there, and the beginning is reached when it equals X-Log-First',
} as const

/** Headers of the log as text; integers. */
export const LOG_TEXT_HEADERS = { 'X-Log-First': LOG_HEADERS['X-Log-First'], 'X-Log-Lines': LOG_HEADERS['X-Log-Lines'] }
