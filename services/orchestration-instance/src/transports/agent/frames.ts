import { AGENT_FRAME_HEAD, AGENT_FRAME_LIMIT, AGENT_FRAMES, AgentCommandEnd, compile } from '@slipway/contracts'

type Frame = { kind: 'stdout' | 'stderr'; content: Buffer } | { kind: 'end'; end: AgentCommandEnd }

const problemsOf = compile(AgentCommandEnd)

/**
 * Reads the complete frames at the beginning of these bytes, and their length. Throws if a frame is not valid: agents are not
 * trusted.
 */
export function readFrames(bytes: Buffer): { frames: Frame[]; length: number } {
  const frames: Frame[] = []
  let at = 0
  while (at + AGENT_FRAME_HEAD <= bytes.length) {
    const size = bytes.readUInt32BE(at + 1)
    if (size > AGENT_FRAME_LIMIT) throw new Error(`a frame of ${size} bytes`)
    const from = at + AGENT_FRAME_HEAD
    if (from + size > bytes.length) break
    frames.push(frameOf(bytes.readUInt8(at), bytes.subarray(from, from + size)))
    at = from + size
  }
  if (at === 0 && bytes.length >= AGENT_FRAME_HEAD + AGENT_FRAME_LIMIT) throw new Error('a frame without end')
  return { frames, length: at }
}

function frameOf(kind: number, content: Buffer): Frame {
  if (kind === AGENT_FRAMES.stdout) return { kind: 'stdout', content }
  if (kind === AGENT_FRAMES.stderr) return { kind: 'stderr', content }
  if (kind !== AGENT_FRAMES.end) throw new Error(`a frame of kind ${kind}`)
  const end: unknown = JSON.parse(content.toString('utf8'))
  const [problem] = problemsOf(end)
  if (problem) throw new Error(`an end with ${problem.path} ${problem.message}`)
  return { kind: 'end', end: end as AgentCommandEnd }
}
