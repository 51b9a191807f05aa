import { Type } from '@sinclair/typebox'
import { Id, Strict, Timestamp, withOptions } from '../schema.ts'
import { ofSource } from './deployments.ts'

export const CheckReleases = Strict(
  {
    ...ofSource,
    target_ids: Type.Optional(Type.Array(Id('target'), { minItems: 1, maxItems: 10_000 })),
  },
  { description: 'At most one source. Without targets: on all targets. At least one of both is needed.' },
)

/** What is checked now. */
export const CheckRequested = Strict({
  requested_at: withOptions(Timestamp, { description: 'A later `checked_at` is of this or of a later check' }),
  total: Type.Integer({ description: 'Releases that are checked' }),
  unchecked: Type.Integer({ description: 'Releases in force that none of their actions has a check for' }),
})
