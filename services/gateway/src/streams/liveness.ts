/** Whether a server answers HTTP at all, whatever it answers. */
export async function answersAtAll(url: string): Promise<boolean> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) })
  await response.body?.cancel()
  return true
}

/** Shorter than the timeout of a readiness check. */
const ANSWER_MS = 800
