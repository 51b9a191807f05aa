import { Random } from '../random.ts'
import type { FaultFactory } from './fault.ts'

const LEAST_SECONDS = 60
const MOST_SECONDS = 600

/** The clock of one process jumps, and jumps back at the end. */
export const clockFault: FaultFactory = ({ campaign: { clocks } }, { kind, target, at }) => {
  const size = new Random(at).integer(LEAST_SECONDS, MOST_SECONDS)
  const seconds = kind === 'forward' ? size : -size
  return {
    inject() {
      if (clocks === null) throw new Error('passed over: libfaketime is not installed')
      clocks.set(target, seconds)
    },
    heal: () => clocks?.set(target, 0),
    note: () => `${seconds} s`,
  }
}
