import type { AllowedLabels, Labels } from './labels.sql.ts'

/** The first claimed label that is not allowed, as `key=value`; undefined if all are allowed. */
export function labelBeyond(allowed: AllowedLabels, claimed: Labels): string | undefined {
  const beyond = Object.entries(claimed).find(([key, value]) => {
    const permitted = Object.hasOwn(allowed, key) ? allowed[key] : undefined
    return permitted === undefined || (permitted !== null && permitted !== value)
  })
  return beyond === undefined ? undefined : beyond.join('=')
}

/** The allowed labels for a message: `pool=eu, zone (any value)`. */
export function labelsText(allowed: AllowedLabels): string {
  const texts = Object.entries(allowed).map(([key, value]) =>
    value === null ? `${key} (any value)` : `${key}=${value}`,
  )
  return texts.join(', ') || 'no labels'
}

/** Reads `key=value` and `key`, comma separated. */
export function parseAllowedLabels(text: string): AllowedLabels {
  const parts = text.split(',').filter((part) => part !== '')
  return Object.fromEntries(
    parts.map((part): [string, string | null] => {
      const end = part.indexOf('=')
      return end < 0 ? [part, null] : [part.slice(0, end), part.slice(end + 1)]
    }),
  )
}
