import { type Static, Type } from '@sinclair/typebox'

export const StopRequest = Type.Object(
  { epoch: Type.Integer({ minimum: 1 }), reason: Type.String({ maxLength: 10_000 }) },
  { additionalProperties: false },
)
export type StopRequest = Static<typeof StopRequest>

/** A query parameter that is a number from 0; absent is 0; null when it is something else. */
export function readNumber(value: unknown): number | null {
  if (value === undefined) return 0
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null
}
