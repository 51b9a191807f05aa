import { writeSync } from 'node:fs'
import type { Moment, MomentOf, Path } from './failpoints.ts'

declare global {
  /** Esbuild replaces this name by a constant (scripts/bundle-options.mjs). It is undefined in code without a bundle. */
  var SLIPWAY_FAILPOINTS: boolean | undefined
}

interface Typed {
  type: string
}

/** A value that a process sends, stores or receives. Its type or its content says on which paths the process is. */
type FailpointSubject =
  | Typed
  | readonly Typed[]
  /** A message of RabbitMQ. */
  | { properties: { type?: string } }
  | { options: { type?: string } }
  /** Lines of a journal. */
  | readonly string[]
  /** Events of a run, as a list or as JSON. */
  | { events: string | readonly Typed[] }
  /** A sync with the bridge, and its answer. */
  | { stopped: readonly unknown[] }
  | { start: readonly unknown[]; stop: readonly unknown[] }

/** The process dies this many milliseconds after these moments: then the kernel has the bytes that the process wrote before. */
const WRITING_MS = 5
const AFTER_WRITING: readonly Moment[] = ['after-acknowledge', 'after-answer']

/** `SERVICE.PATH.MOMENT=kill@N`: the process kills itself when it comes here for the Nth time. */
const ORDER = /^[^.]+\.(?<name>.+)=kill(@(?<count>\d+))?$/

let left: number | undefined

/**
 * A place where a process can be made to die, for the campaign that kills processes between two effects. The builds for
 * production contain no calls of this function: esbuild removes calls of empty functions.
 */
export function failpoint<P extends Path>(subject: P, moment: MomentOf<P>): void
export function failpoint(subject: FailpointSubject, moment: Moment): void
export function failpoint(subject: Path | FailpointSubject, moment: Moment): void {
  if (globalThis.SLIPWAY_FAILPOINTS) {
    const { name, count } = ORDER.exec(process.env['SLIPWAY_FAILPOINT'] ?? '')?.groups ?? {}
    if (name === undefined || !pathsOf(subject).some((path) => `${path}.${moment}` === name)) return
    left = (left ?? Number(count ?? 1)) - 1
    if (left !== 0) return
    const die = () => {
      writeSync(2, `failpoint ${process.env['SLIPWAY_FAILPOINT']}\n`)
      process.kill(process.pid, 'SIGKILL')
    }
    if (AFTER_WRITING.includes(moment)) setTimeout(die, WRITING_MS)
    else die()
  }
}

/** What transactions change, by connection. */
const transactions = new WeakMap<object, { subject: Path | FailpointSubject; what: 'commit' | 'removal' }[]>()

/** Gives a transaction failpoints before and after its commit. `removal`: it deletes sent messages. */
export function failAtCommit(
  tx: object,
  subject: Path | FailpointSubject,
  what: 'commit' | 'removal' = 'commit',
): void {
  if (globalThis.SLIPWAY_FAILPOINTS) transactions.set(tx, [...(transactions.get(tx) ?? []), { subject, what }])
}

/** Called by whoever commits a transaction. */
export function failpointOfCommit(tx: object, when: 'before' | 'after'): void {
  if (globalThis.SLIPWAY_FAILPOINTS) {
    for (const { subject, what } of transactions.get(tx) ?? [])
      failpoint(subject as FailpointSubject, `${when}-${what}`)
  }
}

function pathsOf(subject: Path | FailpointSubject): string[] {
  if (typeof subject === 'string') return [subject]
  if ('properties' in subject) return [subject.properties.type ?? '']
  if ('options' in subject) return [subject.options.type ?? '']
  if ('stopped' in subject) return subject.stopped.length > 0 ? ['sync', 'stopped'] : ['sync']
  if ('start' in subject) {
    return [...(subject.start.length > 0 ? ['start'] : []), ...(subject.stop.length > 0 ? ['stop'] : [])]
  }
  if ('events' in subject) return pathsOf(typeof subject.events === 'string' ? [subject.events] : subject.events)
  if ('type' in subject) return [pathOfType(subject.type)]
  return subject.flatMap((one) => (typeof one === 'string' ? typesIn(one) : [one.type])).map(pathOfType)
}

/** The types of run events in JSON. */
const typesIn = (json: string): string[] => [...json.matchAll(/\{"type":"(\w+)"/g)].map(([, type = '']) => type)

/** Types of messages contain a dot and are paths. The other types are of run events. */
function pathOfType(type: string): string {
  if (type.includes('.')) return type
  if (type === 'step_started' || type === 'rollback_started') return 'attempt'
  return type === 'finished' ? 'end' : 'events'
}
