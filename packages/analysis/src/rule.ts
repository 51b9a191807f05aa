/** What a rule is about, in the order in which docs/analysis.md lists them. */
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

export type Area = (typeof AREAS)[number]

/** One kind of failure: what gives it away, and what to say of it. */
export interface Rule {
  /** Never changes: fingerprints begin with it. */
  id: string
  area: Area
  /** Any one of these (in lower case) is in each text that the pattern finds: cheap to look for, before the pattern is. */
  hints?: readonly string[]
  /**
   * Finds the telling line. What it captures as `what` stands for `{what}` in the texts, and tells apart failures of the same
   * rule. Each has at most three unbounded repetitions and none within another, as lines are short but anybody's.
   */
  pattern?: RegExp
  /** The cause is a general one: failures of the rule are told apart by their telling line. */
  distinct?: true
  /** The command must have ended with one of these; alone, where there is no pattern. */
  exitCodes?: readonly number[]
  /** Where to look: what the command wrote, or what the instance says of its end. */
  in?: 'output' | 'error'
  /** How sure one may be when the telling line is the last one. */
  confidence: number
  /** A sentence without its full stop. */
  title: string
  cause: string
  remediation: readonly [string, ...string[]]
}

/** A rule without its area. */
export type RuleText = Omit<Rule, 'area'>

export const rulesOf = (area: Area, rules: readonly RuleText[]): Rule[] => rules.map((rule) => ({ ...rule, area }))
