import { hash } from 'node:crypto'

/** A name with one of these ends is a host name. A name with another end is probably a class, module or file. */
const TOP_LEVELS =
  'com|net|org|io|dev|app|cloud|local|localdomain|internal|intern|intranet|lan|corp|home|private|svc|test|invalid|example|' +
  'at|be|br|ch|cn|cz|de|dk|es|eu|fi|fr|ie|in|it|jp|kr|nl|no|pt|se|uk|us'

/** Replacements, in this order, for text that differs between targets or attempts. */
const REPLACEMENTS: [RegExp, string | ((...found: string[]) => string)][] = [
  // The path of a URL stays. The query is removed, because it may hold tokens.
  [
    /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>/?#]{1,300}(\/[^\s"'<>?#]{0,300}|)(?:[?#][^\s"'<>]{0,300})?/g,
    (_, path = '') => `URL${path}`,
  ],
  [/\b[\w.+-]{1,64}@[\w.-]{1,200}/g, 'HOST'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'N'],
  [/(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}(?:\d{1,3}\.){3}\d{1,3}\b/g, 'HOST'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, 'HOST'],
  // Dates with words: `Sat Nov 29 10:11:12 UTC 2026`, `29/Nov/2026`.
  [
    /(?:\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?(?:\b\d{1,2}[ /-])?\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[ /-]{1,2}\d{1,4}(?:[:,]? ?\d{1,4}(?::\d{2}){0,2}){0,2}(?: ?[ap]m)?(?: (?:utc|gmt|[a-z]{3,4}(?= \d{4})))?(?: \d{4})?\b/g,
    'N',
  ],
  [
    /(?<!:)\b(?:\d{4}-\d{2}-\d{2}[t ])?\d{1,2}:\d{2}:\d{2}(?![0-9a-f]|:[\w:])(?:[.,]\d{1,9})?(?:z|[+-]\d{2}:?\d{2})?/g,
    'N',
  ],
  [/(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,8}(?![\w:])/g, 'HOST'],
  // Temporary names: from mktemp, and everything in folders for temporary files.
  [/\btmp(?:[.\-_][\w.-]{1,60}|\w{8}\b)/g, 'TMP'],
  [/\b[a-z]:\\(?:[^\\\s]{1,60}\\){0,8}te?mp\\[^\s:'"]{1,200}/g, '/TMP'],
  [
    /(?:\/private)?\/(?:tmp|var\/folders\/\w{1,9}\/\w{1,99}\/t|var\/tmp|dev\/shm|run\/user\/\d{1,10})\/[^\s/:'"]{1,200}/g,
    '/TMP',
  ],
  [new RegExp(`\\b(?:[a-z0-9-]{1,63}\\.){1,8}(?:${TOP_LEVELS})\\b(?![.-])`, 'g'), 'HOST'],
  // Codes distinguish failures. Their digits become letters, so no later replacement changes them.
  [/\b((?:code|status|errno|signal|sqlstate)[ :=#]{1,3}|(?:error|http)[ #]|e|ora-)(\d{1,5})\b/g, asCode],
  [/\b(?=[0-9a-f]{0,63}\d)[0-9a-f]{7,64}\b/g, 'N'],
  // A mix of letters and digits that is longer than a name such as `k8s`.
  [/\b(?=\w{5})[a-z_]{0,60}\d{1,60}[a-z_]\w{0,100}/g, 'N'],
  // Numbers, dates and versions, also at the end of a word such as `web12`.
  [/\d[\w.]{0,100}/g, 'N'],
]
const MAX_CHARACTERS = 400

/**
 * Names a kind of failure. Failures that differ only in numbers, host and target names or random parts of paths have the same
 * fingerprint. `texts` distinguish failures of one rule; their order and repetitions do not count, because commands that run at the same
 * time write in any order. `exitCode` distinguishes failures without a rule.
 */
export function fingerprintOf(
  ruleId: string,
  texts: readonly string[],
  places: readonly string[] = [],
  exitCode: number | null = null,
): string {
  if (texts.length === 0) return ruleId
  const kinds = [...new Set(texts.map((text) => kindOf(text, places)))].sort().join('\n')
  return `${ruleId}-${hash('sha256', `${exitCode ?? ''} ${kinds}`).slice(0, 8)}`
}

/** Replaces the parts that differ between failures of the same kind. */
function kindOf(text: string, places: readonly string[]): string {
  let kind = text.slice(0, MAX_CHARACTERS).toLowerCase()
  for (const place of places) if (place.length >= 2) kind = kind.replace(asWord(place.toLowerCase()), 'HOST')
  for (const [pattern, word] of REPLACEMENTS) kind = kind.replace(pattern, word as string)
  return kind.replace(/\s+/g, ' ').trim()
}

/** Matches whole words only: the target `one` is not in `none`. */
const asWord = (place: string) =>
  new RegExp(`(?<![a-z0-9_])${place.replace(/[^a-z0-9]/g, (character) => `\\${character}`)}(?![a-z0-9_])`, 'g')

const ZERO = 'A'.charCodeAt(0)

function asCode(_: string, before = '', digits = ''): string {
  return before + digits.replace(/\d/g, (digit) => String.fromCharCode(ZERO + Number(digit)))
}
