import { Type } from '@sinclair/typebox'
import { Count, describe, Id, Moment, Strict } from '../schema.ts'
import { STORY } from '../story.ts'
import { ofSource } from './deployments.ts'

export const CheckReleases = Strict(
  {
    ...ofSource,
    target_ids: Type.Optional(
      describe(
        Type.Array(Id('target'), { minItems: 1, maxItems: 10_000 }),
        'The targets to check. When omitted: all on which the source is in force',
        [STORY.target],
      ),
    ),
  },
  { description: 'At most one source. Without targets: on all targets. At least one of both is needed.' },
)

/** What is checked now. */
export const CheckRequested = Strict({
  requested_at: Moment('A later `checked_at` is of this or of a later check'),
  total: Count('Releases that are checked', 2),
  unchecked: Count('Releases in force that none of their actions has a check for', 0),
})
