import { type Failure, type Line, linesOf } from './failure.ts'
import { fingerprintOf } from './fingerprint.ts'
import { Haystack } from './haystack.ts'
import type { Rule } from './rule.ts'
import { RULES, RULES_VERSION } from './rules.ts'

/** What is shown of a failed command. */
export interface Analysis {
  /** 0 to 1. */
  confidence: number
  summary: string
  likely_cause: string
  remediation: string[]
  analyzed_at: string
  model_version: string
  /** The same for failures of one kind. */
  fingerprint: string
}

export interface Finding {
  rule: string
  analysis: Analysis
}

/** A telling line is worth less, the more was written after it and where it was not written as an error. */
const PER_LINE = 0.01
const MAX_DISTANCE = 0.2
const ON_STDOUT = 0.04
const QUOTE_CHARACTERS = 240
/** What programs write after they have said what is wrong. */
const AFTERWORD = /^(?:at |Node\.js v|Try '|Usage: |npm (?:error|ERR!) A complete log|help: |\^+$|[{}()\];]+$|\+ )/
/** Says that something failed, and not why: many failures end with the same such line. */
const ANNOUNCEMENT =
  /^\W{0,3}(?:(?:fatal|error):? )?(?:the )?(?:[\w-]{1,30} ){0,2}?(?:failed|failure|fatal|error|abort(?:ed|ing)?|exit(?:ed|ing)?|giving up|gave up)(?: with)?(?: (?:exit |return )?(?:code|status):? ?\d{1,3})?\W{0,3}$/i

interface Match {
  rule: Rule
  score: number
  line: Line | null
  what: string | null
}

/** Says why a command failed, by the rule that is surest of it. Never throws; its time is bounded as its input is. */
export function analyse(failure: Failure, at: string): Finding {
  const lines = linesOf(failure)
  const written = lines.filter(({ origin }) => origin !== 'error')
  const said = lines.filter(({ origin }) => origin === 'error')
  const texts = { output: haystack(written), error: haystack(said) }
  let best: Match | null = null
  for (const rule of RULES) {
    if (rule.exitCodes && (failure.exit_code === null || !rule.exitCodes.includes(failure.exit_code))) continue
    const [candidates, text] = rule.in === 'error' ? [said, texts.error] : [written, texts.output]
    if (rule.hints && !rule.hints.some((hint) => text.holds(hint))) continue
    const match = matchOf(rule, candidates)
    if (match && (best === null || match.score > best.score)) best = match
  }
  return best ? findingOf(best, failure, at) : unknownOf(failure, [...written, ...said], at)
}

const haystack = (lines: readonly Line[]) => new Haystack(lines.map(({ lower }) => lower).join('\n'))

function matchOf(rule: Rule, lines: readonly Line[]): Match | null {
  if (!rule.pattern) return { rule, score: rule.confidence, line: null, what: null }
  let best: Match | null = null
  for (const line of lines) {
    const found = rule.pattern.exec(line.text)
    if (!found) continue
    const distance = line.origin === 'error' ? 0 : Math.min(MAX_DISTANCE, line.fromEnd * PER_LINE)
    const score = rule.confidence - distance - (line.origin === 'stdout' ? ON_STDOUT : 0)
    const what = Object.values(found.groups ?? {}).find((text) => text !== undefined && text !== '') ?? null
    if (best === null || score > best.score) best = { rule, score, line, what }
  }
  return best
}

function findingOf({ rule, score, line, what }: Match, failure: Failure, at: string): Finding {
  return {
    rule: rule.id,
    analysis: {
      confidence: rounded(score),
      summary: withWhat(rule.title, what),
      likely_cause: `${rule.cause}${evidence(line, failure)}`,
      remediation: [...rule.remediation],
      analyzed_at: at,
      model_version: RULES_VERSION,
      fingerprint: fingerprintOf(rule.id, what ?? (rule.distinct ? (line?.text ?? null) : null), failure.places),
    },
  }
}

function unknownOf(failure: Failure, lines: readonly Line[], at: string): Finding {
  const telling = lines.filter(({ text }) => !AFTERWORD.test(text))
  const last = telling.find(({ text }) => !ANNOUNCEMENT.test(text)) ?? telling[0] ?? lines[0]
  const told = last !== undefined && last.origin !== 'error'
  const how = quoted(lines.findLast(({ origin }) => origin === 'error')?.text ?? 'nobody knows how')
  return {
    rule: 'unknown',
    analysis: {
      confidence: told ? 0.25 : 0.1,
      summary: told ? `The command failed after writing “${quoted(last.text)}”` : `The command failed: ${how}`,
      likely_cause: told
        ? `No known kind of failure. The last words of the command (${how}) may tell: “${quoted(last.text)}”`
        : `The command wrote nothing that would tell why (${how}).`,
      remediation: [
        'Read the output of the step from its beginning',
        'Let the script say what it does: `set -x`, and messages on stderr before it ends',
      ],
      analyzed_at: at,
      model_version: RULES_VERSION,
      fingerprint: fingerprintOf('unknown', told ? last.text : how, failure.places, failure.exit_code),
    },
  }
}

const rounded = (score: number) => Math.round(Math.min(1, Math.max(0.05, score)) * 100) / 100

/** A title without what nobody captured is a sentence still. */
function withWhat(title: string, what: string | null): string {
  return what === null ? title.replace(/:? ?\{what\}/, '').trim() : title.replace('{what}', () => quoted(what))
}

function evidence(line: Line | null, { exit_code }: Failure): string {
  if (line) return ` Evidence${line.origin === 'error' ? '' : ` (${line.origin})`}: “${quoted(line.text)}”`
  return exit_code === null ? '' : ` Evidence: exit code ${exit_code}`
}

function quoted(text: string): string {
  const characters = [...text]
  return characters.length <= QUOTE_CHARACTERS ? text : `${characters.slice(0, QUOTE_CHARACTERS).join('')}…`
}
