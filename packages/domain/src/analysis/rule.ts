import type { CommandFailureReason } from '../command-failure.ts'

/** The areas of rules, in the order of docs/analysis.md. */
export const AREAS = [
  'slipway',
  'end of the process',
  'shell',
  'files and disks',
  'memory and limits',
  'network',
  'certificates',
  'system packages',
  'language packages',
  'programs',
  'git',
  'ssh',
  'services',
  'containers',
  'databases',
] as const

type Area = (typeof AREAS)[number]

/** How to recognize one kind of failure, and its explanation. */
export interface Rule {
  /** Must never change, because fingerprints start with it. */
  id: string
  area: Area
  /** Each text that the pattern matches contains one of these (in lower case). They are a fast check before the pattern. */
  hints?: readonly string[]
  /**
   * Matches the line that shows the failure. The capture `what` replaces `{what}` in the title, and distinguishes failures of
   * the rule. A pattern may have at most three unbounded repetitions, not nested: lines are short, but any command writes them.
   */
  pattern?: RegExp
  /** Set for a general cause. The matched line distinguishes failures of the rule. */
  distinct?: true
  /** The command must have one of these exit codes. Without a pattern, the exit code alone matches. */
  exitCodes?: readonly number[]
  /** The reason of the failure, instead of hints and a pattern. Its subject replaces `{what}`. */
  reason?: CommandFailureReason
  /** The subject that the failure must have. */
  subject?: string
  /** The confidence if the matched line is the last one. */
  confidence: number
  /** A sentence without the full stop. */
  title: string
  cause: string
  remediation: readonly [string, ...string[]]
}

/** A rule without its area. */
type RuleText = Omit<Rule, 'area'>

export const rulesOf = (area: Area, rules: readonly RuleText[]): Rule[] => rules.map((rule) => ({ ...rule, area }))
