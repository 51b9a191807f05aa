import type { Line } from './failure.ts'

/** Lines that programs write after their error message. */
const TRAILER = /^(?:at |Node\.js v|Try '|Usage: |npm (?:error|ERR!) A complete log|help: |\^+$|[{}()\];]+$|\+ )/

/** Words before a message: times, levels, and names such as `deploy:`, `[web-1]` or `build[812]:`. */
const PREFIX = /^(?:[\d:.,tzTZ+-]+ |(?:\[[^\]]{1,60}\]|[\w./@-]{1,60}(?:\[\d{1,10}\])?:) |\W{1,3}(?=\w)){1,6}/

/** Says that something failed, without a reason. */
const FAILED =
  '(?:failed|failure|fatal|error|abort(?:ed|ing)?|exit(?:ed|ing)?|stopp(?:ed|ing)|giving up|gave up|rolling back|rolled back|' +
  'cannot continue|did not succeed)'
const ENDING =
  '(?: now)?(?:,? with)?(?: (?:an )?error)?(?: (?:exit |return )?(?:code|status):? ?\\d{1,3})?' +
  '(?: after \\d{1,6} (?:attempts|retries|tries|times))?\\W{0,3}$'
/** A line that reports a failure without a reason. Many different failures end with such a line. */
const GENERIC_FAILURE = new RegExp(
  `^\\W{0,3}(?:(?:fatal|error):? )?(?:the )?(?:[\\w-]{1,30} ){0,2}?${FAILED}${ENDING}`,
  'i',
)
/** The same behind a prefix. There, only these subjects are general: `build: frob failed` names the frob. */
const GENERIC_MESSAGE = new RegExp(
  `^(?:the )?(?:(?:deploy|deployment|build|script|step|task|job|command|process|release|installation|upgrade) ){0,2}?${FAILED}${ENDING}`,
  'i',
)
const SEE_LOG = /^(?:please )?(?:see|check|read|consult)\b.{0,80}\b(?:above|below|logs?|output|details)\b/i

/** Words of lines that report an error. */
const ERROR =
  /\b(?:[\w.]{0,80}(?:error|exception)s?|err!|fatal|panic|fail(?:s|ed|ure|ing)?|can(?:no|')t|could ?n[o']t|could not|unable|refus(?:ed|es|ing)|reject(?:ed|s|ing)?|den(?:ied|ies)|forbidden|unauthori[sz]ed|invalid|illegal|unexpected|unknown|unsupported|undefined|unresolved|unreachable|unavailable|miss(?:ing|ed)|mismatch\w{0,3}|corrupt\w{0,3}|broken?|conflict\w{0,4}|exceed(?:ed|s)|exhausted|expired|overflow|timed? ?out|deadlock\w{0,3}|aborted|crashed|killed|lost|not|no such|already|must|wrong|bad|too (?:many|few|large|long|short|small|old|new)|e[a-z]{4,12}:)\b/i

/** A line that reports progress or success. */
const PROGRESS =
  /^(?!nothing\b|missing\b)\w{2,30}ing\b|\b(?:ok|done|complete[d]?|success(?:ful(?:ly)?)?|\d{1,3} ?%)\W{0,3}$/i

/** Lines that say nothing of an error count only at the end of the output. */
const LAST_LINES = 3

const said = ({ text }: Line) => text.replace(PREFIX, '')

function isGeneric(line: Line): boolean {
  const text = said(line)
  return GENERIC_FAILURE.test(line.text) || GENERIC_MESSAGE.test(text) || SEE_LOG.test(text)
}

const reportsError = ({ text }: Line) => ERROR.test(text)
const reportsProgress = (line: Line) => !reportsError(line) && PROGRESS.test(said(line))

/**
 * The lines that tell why a command failed, the most telling first: lines that report an error, then the last lines of the output.
 * The last line alone does not tell, because scripts end different failures with the same words. `lines` begins with the last line
 * of stderr.
 */
export function tellingLines(lines: readonly Line[]): Line[] {
  const candidates = lines.filter(({ text }) => !TRAILER.test(text))
  const meaningful = candidates.filter((line) => !isGeneric(line))
  const errors = meaningful.filter((line) => line.isWhole && reportsError(line))
  const ofStderr = meaningful.filter(({ origin }) => origin === 'stderr')
  const last = (ofStderr.length > 0 || errors.length > 0 ? ofStderr : meaningful).slice(0, LAST_LINES)
  const others = last.filter((line) => !errors.includes(line) && !reportsProgress(line))
  const found = [...errors, ...others]
  return found.length > 0 ? found : [meaningful[0] ?? candidates[0] ?? lines[0]].filter((line) => line !== undefined)
}
