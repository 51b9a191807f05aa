import { type ApiError, type SlipwayClient, ValidationError } from '@slipway/client'
import type { Command } from 'commander'
import { take } from './lists.ts'

/** Suggests what a person may have meant. Only after a failure: loading the rule of similarity slows down the start. */

const MAX_TAGS = 5_000

/** Returns the end of a sentence, such as `; did you mean env-shop?`. */
export async function suggestOneOf(given: string, known: Iterable<string>): Promise<string> {
  const { suggest } = await import('@slipway/contracts')
  return suggest(given, known)
}

const formatTag = ({ key, value }: { key: string; value: string }) => `${key}=${value}`

/** After a refusal of tags: names those of `--tag` that no target has. */
export async function suggestTags(client: SlipwayClient, command: Command, error: ApiError): Promise<string[]> {
  const isAboutTags = error instanceof ValidationError && error.problems.some(({ path }) => path === '/target_tags')
  const given: unknown = isAboutTags ? command.opts()['tag'] : undefined
  if (!Array.isArray(given)) return []
  // Whoever may deploy but not read tags gets the refusal alone.
  const known = await take(client.each('listTags'), MAX_TAGS).catch(() => undefined)
  if (known === undefined) return []
  const texts = known.map(formatTag)
  const unknown = given.map(formatTag).filter((tag) => !texts.includes(tag))
  return await Promise.all(unknown.map(async (tag) => `no target has the tag ${tag}${await suggestOneOf(tag, texts)}`))
}

/** After a refusal of variables: `--var NAME=5` gives a text, although 5 looks like a number. */
export function suggestTypes(command: Command, error: ApiError): string[] {
  const given: unknown = command.opts()['var']
  if (!(error instanceof ValidationError) || !Array.isArray(given)) return []
  const texts = new Map<unknown, unknown>(given)
  return error.problems.flatMap(({ path }) => {
    const [, name] = /^\/variables\/(\w+)$/.exec(path) ?? []
    const text = texts.get(name)
    if (typeof text !== 'string' || !isTyped(text)) return []
    return [`--var ${name}=${text} gives a text; for a number, a boolean or JSON write --var ${name}:=${text}`]
  })
}

function isTyped(text: string): boolean {
  try {
    return typeof JSON.parse(text) !== 'string'
  } catch {
    return false
  }
}
