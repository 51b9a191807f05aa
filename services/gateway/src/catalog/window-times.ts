import { type FieldError, isTimeZone, recurrenceProblem } from '@slipway/domain'

type Times = Record<'start_time' | 'end_time' | 'recurrence' | 'time_zone', unknown>

const isMoment = (time: unknown): time is string | Date => !Number.isNaN(new Date(time as string).getTime())

/**
 * Checks the times of a freeze or a window, which are well-formed, alone and together. Absent times are allowed. `start_offset` is
 * the UTC offset of the start, `place` the JSON Pointer of the object.
 */
export function windowProblems(
  { start_time, end_time, recurrence, time_zone }: Times,
  start_offset: string | null,
  place = '',
): FieldError[] {
  const times = Object.entries({ start_time, end_time }).filter(([, time]) => typeof time === 'string')
  // A well-formed time may not exist, such as a leap second.
  const problems = times.flatMap(([field, time]) =>
    isMoment(time) ? [] : [{ path: `${place}/${field}`, message: 'must be a moment that exists' }],
  )
  if (typeof time_zone === 'string' && !isTimeZone(time_zone)) {
    problems.push({ path: `${place}/time_zone`, message: 'must be the name of a time zone, such as Europe/Berlin' })
  }
  if (problems.length > 0 || start_time === undefined || end_time === undefined) return problems
  if (!isMoment(start_time) || !isMoment(end_time)) return []
  if (new Date(end_time) <= new Date(start_time)) {
    return [{ path: `${place}/end_time`, message: 'must be after start_time' }]
  }
  if (typeof recurrence !== 'string') return []
  const problem = recurrenceProblem({
    start_time,
    end_time,
    recurrence,
    start_offset,
    time_zone: typeof time_zone === 'string' ? time_zone : null,
  })
  return problem === null ? [] : [{ path: `${place}/recurrence`, message: problem }]
}
