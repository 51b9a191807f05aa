import { Type } from '@sinclair/typebox'
import { MAX_RECURRENCE_LENGTH } from '@slipway/domain'
import {
  Description,
  describe,
  Flag,
  Id,
  Moment,
  Name,
  Nullable,
  NullableRef,
  NullableText,
  Ref,
  Strict,
  Text,
} from '../schema.ts'
import { MOMENTS, STORY } from '../story.ts'
import { changeOf, ManagedBy } from './records.ts'

const FIRST = { start: '2026-12-20T00:00:00+01:00', end: '2027-01-04T00:00:00+01:00' }

export const Freeze = Strict({
  id: Ref('freeze', 'UUID of the freeze'),
  name: Text('Name, unique among the freezes that belong to the same tenant, or to none', 'end of year'),
  description: NullableText('Free text for people', 'Nobody is on call'),
  start_time: Moment('When the first window begins', FIRST.start),
  end_time: Moment('When the first window ends', FIRST.end),
  recurrence: NullableText('The RFC 5545 RRULE that repeats the first window; null: there is one window', null),
  time_zone: NullableText('The IANA time zone of the recurrence; null: the UTC offset of start_time counts', null),
  tenant_id: NullableRef(
    'tenant',
    'Freezes deployments of this tenant and to its targets; null: the tenant does not matter',
    null,
  ),
  environment_id: NullableRef(
    'environment',
    'Freezes deployments of this environment and to its targets; null: the environment does not matter',
  ),
  solution_id: NullableRef('solution', 'Freezes deployments of this solution; null: the source does not matter', null),
  active: Flag('Whether a window is open now', false),
  windows: Type.Array(
    Strict({
      starts_at: Moment('When the window begins', FIRST.start),
      ends_at: Moment('When the window ends', FIRST.end),
    }),
    {
      description:
        'The present window and the next ones, in order: those that begin within 14 days, at most 100. If none begins by then, the ' +
        'next one within a year.',
    },
  ),
  created_by: NullableText('The name of the user who created the freeze', 'admin'),
  managed_by: ManagedBy,
  created_at: Moment('When the freeze was created', MOMENTS.made),
  updated_at: Moment('When the freeze was last changed', MOMENTS.made),
})

export const CreateFreeze = Strict({
  name: describe(Name, Name.description ?? '', 'end of year'),
  description: Type.Optional(
    describe(Nullable(Description), 'Free text for people, at most 10,000 characters', 'Nobody is on call'),
  ),
  managed_by: Type.Optional(ManagedBy),
  start_time: Moment('When the first window begins', FIRST.start),
  end_time: Moment('When the first window ends; after start_time', FIRST.end),
  recurrence: Type.Optional(
    describe(
      Nullable(Type.String({ maxLength: MAX_RECURRENCE_LENGTH })),
      'An RFC 5545 RRULE, without `RRULE:`, that repeats the window from start_time to end_time: FREQ (DAILY, WEEKLY, MONTHLY or ' +
        'YEARLY), INTERVAL, BYDAY (MO, 1MO, -1FR), BYMONTHDAY, BYMONTH, BYSETPOS, WKST, COUNT or UNTIL. ' +
        'Other parts, and rules that never match, are refused. ' +
        'Without time_zone, the rule uses the UTC offset of start_time all year. ' +
        'The first window always counts, even if the rule does not include it. A window longer than the shortest interval ' +
        'between two starts is refused. An equal length is allowed, and summer time is ignored.',
      'FREQ=YEARLY',
      'FREQ=WEEKLY;BYDAY=FR',
      'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1',
    ),
  ),
  time_zone: Type.Optional(
    describe(
      Nullable(Type.String({ maxLength: 64 })),
      'The IANA time zone of the recurrence: windows begin at the same time of day there, in summer and winter, and all have ' +
        'the length of the first. For a time of day that the clocks skip, the UTC offset before the change counts.',
      'Europe/Berlin',
    ),
  ),
  tenant_id: Type.Optional(
    describe(
      Nullable(Id('tenant')),
      'Freezes deployments that name this tenant, or that select a target of it',
      STORY.tenant,
    ),
  ),
  environment_id: Type.Optional(
    describe(
      Nullable(Id('environment')),
      'Freezes deployments that name this environment, or that select a target of it',
      STORY.environment,
    ),
  ),
  solution_id: Type.Optional(
    describe(Nullable(Id('solution')), 'Freezes deployments of this solution only', STORY.solution),
  ),
})
export const ChangeFreeze = changeOf(CreateFreeze, '`start_time` also sets the UTC offset of the recurrence.')
