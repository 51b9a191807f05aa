import { type Failure, type Line, linesOf, printable } from './failure.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { Rule } from './rule.ts'
import { RULES, RULES_VERSION } from './rules.ts'
import { SearchText } from './search-text.ts'
import { tellingLines } from './telling.ts'

/** The explanation of a failed command. */
export interface Analysis {
  /** From 0 to 1. */
  confidence: number
  summary: string
  likely_cause: string
  remediation: string[]
  analyzed_at: string
  model_version: string
  /** Equal for failures of the same kind. */
  fingerprint: string
}

export interface Finding {
  rule: string
  analysis: Analysis
}

/** Later lines and standard output reduce the confidence of a match. */
const PENALTY_PER_LINE = 0.01
const MAX_LINE_PENALTY = 0.2
const STDOUT_PENALTY = 0.04
const QUOTE_CHARACTERS = 240
interface Match {
  rule: Rule
  score: number
  line: Line | null
  what: string | null
}

/** Explains a failed command by the rule with the highest confidence. Never throws. The size of the input limits its time. */
export function analyse(failure: Failure, at: string): Finding {
  const lines = linesOf(failure)
  const written = lines.filter(({ origin }) => origin !== 'error')
  const reported = lines.filter(({ origin }) => origin === 'error')
  const output = new SearchText(written.map(({ lower }) => lower).join('\n'))
  let best: Match | null = null
  for (const rule of RULES) {
    if (rule.exitCodes && (failure.exit_code === null || !rule.exitCodes.includes(failure.exit_code))) continue
    if (rule.hints && !rule.hints.some((hint) => output.contains(hint))) continue
    const match = rule.reason ? reportOf(rule, failure, reported) : matchOf(rule, written)
    if (match && (best === null || match.score > best.score)) best = match
  }
  return best ? findingOf(best, failure, at) : unknownOf(failure, [...written, ...reported], at)
}

function reportOf(rule: Rule, { reason, subject }: Failure, [line]: readonly Line[]): Match | null {
  if (rule.reason !== reason || (rule.subject !== undefined && rule.subject !== subject)) return null
  return {
    rule,
    score: rule.confidence,
    line: line ?? null,
    what: rule.subject === undefined ? printable(subject ?? '') || null : null,
  }
}

function matchOf(rule: Rule, lines: readonly Line[]): Match | null {
  if (!rule.pattern) return { rule, score: rule.confidence, line: null, what: null }
  let best: Match | null = null
  for (const line of lines) {
    const found = rule.pattern.exec(line.text)
    if (!found) continue
    const penalty = Math.min(MAX_LINE_PENALTY, line.fromEnd * PENALTY_PER_LINE)
    const score = rule.confidence - penalty - (line.origin === 'stdout' ? STDOUT_PENALTY : 0)
    const what = Object.values(found.groups ?? {}).find((text) => text !== undefined && text !== '') ?? null
    if (best === null || score > best.score) best = { rule, score, line, what }
  }
  return best
}

function findingOf({ rule, score, line, what }: Match, failure: Failure, at: string): Finding {
  const about = what ?? (rule.distinct ? (line?.text ?? null) : null)
  return {
    rule: rule.id,
    analysis: {
      confidence: rounded(score),
      summary: withWhat(rule.title, what),
      likely_cause: `${rule.cause}${evidence(line, failure)}`,
      remediation: [...rule.remediation],
      analyzed_at: at,
      model_version: RULES_VERSION,
      fingerprint: fingerprintOf(rule.id, about === null ? [] : [about], failure.places),
    },
  }
}

function unknownOf(failure: Failure, lines: readonly Line[], at: string): Finding {
  const telling = tellingLines(lines.filter(({ origin }) => origin !== 'error'))
  const [first] = telling
  const end = quoted(lines.findLast(({ origin }) => origin === 'error')?.text ?? 'its end is not known')
  return {
    rule: 'unknown',
    analysis: {
      confidence: first ? 0.25 : 0.1,
      summary: first ? `The command failed after writing “${quoted(first.text)}”` : `The command failed: ${end}`,
      likely_cause: first
        ? `No rule matches this failure (${end}). This output may explain it: “${quoted(first.text)}”`
        : `The command wrote no output that explains the failure (${end}).`,
      remediation: [
        'Read the output of the step from its beginning',
        'Make the script report what it does: `set -x`, and messages on stderr before it ends',
      ],
      analyzed_at: at,
      model_version: RULES_VERSION,
      fingerprint: fingerprintOf(
        'unknown',
        first ? telling.map(({ text }) => text) : [end],
        failure.places,
        failure.exit_code,
      ),
    },
  }
}

const rounded = (score: number) => Math.round(Math.min(1, Math.max(0.05, score)) * 100) / 100

/** Inserts the captured text into the title, or removes its placeholder. */
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
