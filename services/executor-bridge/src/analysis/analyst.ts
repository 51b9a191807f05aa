import type { Database } from '@slipway/database'
import { DestinationRefused, type Logger, sleep } from '@slipway/runtime'
import { addOpinion, type EndpointAnalysis } from './analysis.sql.ts'
import { askEndpoint, type Endpoint } from './endpoint.ts'
import type { AnalysedFailure, Failures } from './failures.ts'

export interface Analyst {
  /** Queues questions about failures, which the rules have explained. Returns at once and never fails. */
  consider(deploymentId: string, failures: Failures): void
  /** Resolves when no question is in progress. */
  stop(): Promise<void>
}

/** The most questions at a time, and the most that are queued. Beyond that, the explanations of the rules stay. */
const AT_ONCE = 4
const MAX_WAITING = 200
/** How long a stop waits for the questions in progress. */
const STOP_MS = 3_000
const WARN_EVERY_MS = 10_000

/** Commands of one action that failed alike: one question for all of them. */
interface Question {
  deploymentId: string
  action: number
  fingerprint: string
  failure: AnalysedFailure['failure']
  targets: number[]
}

interface AnalystOptions {
  endpoint: Endpoint
  database: Database
  logger: Logger
  /** See STOP_MS. */
  stopMs?: number
}

/** Asks an endpoint about failures, and replaces the explanations of the rules by its answers. */
export function createAnalyst({ endpoint, database, logger, stopMs = STOP_MS }: AnalystOptions): Analyst {
  const waiting = new Map<string, Question>()
  const inHand = new Set<Promise<void>>()
  let stopped = false
  let quietUntil = 0

  const warn = (message: string, facts: Record<string, unknown>) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + WARN_EVERY_MS
    logger.warn(message, facts)
  }

  async function answer(question: Question): Promise<void> {
    try {
      const opinion = await askEndpoint(endpoint, question.failure)
      await keep(database, question, opinion)
    } catch (error) {
      const reason = error instanceof DestinationRefused ? `its URL ${error.message}` : (error as Error).message
      warn('the analysis endpoint was of no help; the rules stand', { deployment_id: question.deploymentId, reason })
    }
  }

  function next(): void {
    for (const [key, question] of waiting) {
      if (stopped || inHand.size >= AT_ONCE) return
      waiting.delete(key)
      const work = answer(question).finally(() => {
        inHand.delete(work)
        next()
      })
      inHand.add(work)
    }
  }

  return {
    consider(deploymentId, failures) {
      if (stopped) return
      for (const { target, action, failure, finding } of failures.values()) {
        const { fingerprint } = finding.analysis
        const key = `${deploymentId}/${action}/${fingerprint}`
        const question = waiting.get(key)
        if (question) question.targets.push(target)
        else if (waiting.size < MAX_WAITING) {
          waiting.set(key, { deploymentId, action, fingerprint, failure, targets: [target] })
        } else
          warn('too many failures wait for the analysis endpoint; the rules stand', { deployment_id: deploymentId })
      }
      next()
    },
    async stop() {
      stopped = true
      waiting.clear()
      const over = new AbortController()
      await Promise.race([Promise.all(inHand), sleep(stopMs, over.signal)])
      over.abort()
    },
  }
}

/** Stores an opinion, if the result is still the one in the question. */
async function keep(database: Database, question: Question, opinion: EndpointAnalysis): Promise<void> {
  const { deploymentId: deployment_id, action, fingerprint, targets } = question
  await addOpinion.run(database, { deployment_id, action, targets, fingerprint, opinion })
}
