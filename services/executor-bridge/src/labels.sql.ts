import { jsonb } from '@slipway/database'

export type Labels = Record<string, string>

/** Labels that an instance may claim: a key with one value, or with null for any value. */
export type AllowedLabels = Record<string, string | null>

export const labels = jsonb<Labels>()
export const allowedLabels = jsonb<AllowedLabels>()
