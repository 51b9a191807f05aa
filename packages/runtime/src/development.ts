import type { Static, TObject } from '@sinclair/typebox'
import { ConfigurationError } from './config.ts'

/** All development secrets in this repository contain this text, literally or in base64. */
const MARK = 'slipway-development'

/**
 * Refuses secrets that are public in this repository.
 * @throws ConfigurationError naming each variable that holds one
 */
export function refuseDevelopmentSecrets<T extends TObject>(schema: T, config: Static<T>): void {
  const values: Record<string, unknown> = config
  const problems = Object.entries(schema.properties).flatMap(([variable, property]) => {
    const value = values[variable]
    if (property['writeOnly'] !== true || typeof value !== 'string' || !isDevelopmentSecret(value)) return []
    const problem =
      'holds a secret of the development setup, which is public: generate your own secret. ' +
      'In development, set SLIPWAY_DEVELOPMENT=true'
    return [{ variable, problem }]
  })
  if (problems.length > 0) throw new ConfigurationError(problems)
}

/** Only the password of a URL is checked, because a host may have such a name. */
export function isDevelopmentSecret(value: string): boolean {
  if (value.includes('://') && URL.canParse(value)) return new URL(value).password.includes(MARK)
  return value.includes(MARK) || value.split(/[:,\s]/).some(decodesToMark)
}

const decodesToMark = (part: string) => Buffer.from(part, 'base64').includes(MARK)
