import { hash } from 'node:crypto'

/** What is another on each target or at each try, by the word that stands for it; in this order. */
const CHANGING: [RegExp, string][] = [
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]{1,300}/g, 'URL'],
  [/\b[\w.+-]{1,64}@[\w.-]{1,200}/g, 'HOST'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, 'HOST'],
  [/\b(?:\d{4}-\d{2}-\d{2}[t ])?\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:z|[+-]\d{2}:?\d{2})?/g, 'N'],
  [/(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,8}(?![\w:])/g, 'HOST'],
  // Temporary names: mktemp's own, and everything right beneath the places for such.
  [/\btmp[.\-_][\w.-]{1,60}/g, 'TMP'],
  [/\/(?:tmp|var\/tmp|dev\/shm|run\/user\/\d{1,10})\/[^\s/:'"]{1,200}/g, '/TMP'],
  // A name of at least three parts, or of two where the last is one of those that hosts end in.
  [/\b(?:[a-z0-9-]{1,63}\.){2,8}[a-z]{2,24}\b/g, 'HOST'],
  [/\b[a-z0-9-]{1,63}\.(?:local|internal|lan|test|invalid|example|com|net|org|io|dev|cloud)\b/g, 'HOST'],
  [/\b(?=[0-9a-f]{0,63}\d)[0-9a-f]{7,64}\b/g, 'ID'],
  // Words with digits in them: numbers, dates, versions, names of one of many.
  [/[a-z_]{0,60}\d[\w.]{0,100}/g, 'N'],
]
const MAX_CHARACTERS = 400

/**
 * Names a kind of failure: the same for a failure that differs only in numbers, in names of hosts and targets, and in the
 * random parts of paths. `what` is what tells failures of one rule apart.
 */
export function fingerprintOf(ruleId: string, what: string | null, places: readonly string[] = []): string {
  if (what === null) return ruleId
  const kind = kindOf(what, places)
  return `${ruleId}-${hash('sha256', kind).slice(0, 8)}`
}

/** A text without what changes from one failure of a kind to the next. */
function kindOf(text: string, places: readonly string[]): string {
  let kind = text.slice(0, MAX_CHARACTERS).toLowerCase()
  for (const place of places) if (place.length >= 2) kind = kind.replaceAll(place.toLowerCase(), 'HOST')
  for (const [pattern, word] of CHANGING) kind = kind.replace(pattern, word)
  return kind.replace(/\s+/g, ' ').trim()
}
