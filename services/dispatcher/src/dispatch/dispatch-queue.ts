import { type AdmissionOptions, admissionOf, runLargeRound, runRound } from './round.ts'

interface DispatchQueueOptions extends AdmissionOptions {
  /** Called after a commit that wrote to the outbox. */
  onCommitted(): void
}

/**
 * Gives free slots to deployments that lost their instance, then to pending requests, until slots or requests run out. Each round is
 * one transaction.
 */
export async function dispatchQueue({ onCommitted, ...options }: DispatchQueueOptions): Promise<void> {
  const admission = admissionOf(options)
  for (;;) {
    const { changed, large } = await runRound(admission, [])
    let total = changed
    for (const id of large) total += (await runLargeRound(admission, id)).changed
    if (total === 0) return
    onCommitted()
  }
}
