import { writeSync } from 'node:fs'
import type { Moment } from './failpoints.ts'

declare global {
  /** Esbuild replaces this name by a constant (scripts/bundle-options.mjs). It is undefined in code without a bundle. */
  var SLIPWAY_FAILPOINTS: boolean | undefined
}

/** What a process does at a boundary. It says on which paths the process is. */
type FailpointSubject =
  /** A part of the work. */
  | string
  /** A message of RabbitMQ. */
  | { type: string }
  | { properties: { type?: string } }
  | { options: { type?: string } }
  /** Lines of a journal. Their paths are the types of their events. */
  | { lines: readonly string[] }
  | { paths: Iterable<string> }

/** The process dies this many milliseconds after these moments: then the kernel has the bytes that the process wrote before. */
const WRITING_MS = 5
const AFTER_WRITING: readonly Moment[] = ['after-acknowledge', 'after-answer']

/** `SERVICE.PATH.MOMENT=kill@N`: the process kills itself when it comes here for the Nth time. */
const ORDER = /^[^.]+\.(?<name>.+)=kill(@(?<count>\d+))?$/

let left: number | undefined

/**
 * A place where a process can be made to die, for the campaign that kills processes between two effects. Only boundaries that all
 * code passes have one: commits, the outbox, queues and the journal. The builds for production contain no calls of this
 * function: esbuild removes calls of empty functions.
 */
export function failpoint(subject: FailpointSubject, moment: Moment): void {
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

function pathsOf(subject: FailpointSubject): string[] {
  if (typeof subject === 'string') return [subject]
  if ('paths' in subject) return [...subject.paths]
  if ('lines' in subject) return subject.lines.flatMap(typesIn)
  if ('type' in subject) return [subject.type]
  return ['properties' in subject ? (subject.properties.type ?? '') : (subject.options.type ?? '')]
}

/** The types of run events in JSON. */
const typesIn = (json: string): string[] => [...json.matchAll(/\{"type":"(\w+)"/g)].map(([, type = '']) => type)
