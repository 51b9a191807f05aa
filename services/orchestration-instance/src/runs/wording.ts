import type { CommandEnd } from '@slipway/commands'
import type { RunSpec, StopReason } from '@slipway/contracts'
import { type CommandFailure, commandFailure, type StepRef } from '@slipway/domain'

/** The texts of a run for users. */
export interface Wording {
  /** `step on target`. */
  place(step: StepRef): string
  rollbackBegins: string
  /** The error message of a failed deployment. */
  firstFailure(step: StepRef, reason: string): string
}

export function wordingOf(spec: RunSpec): Wording {
  const action = (step: StepRef) => spec.actions[step.action]?.name ?? `action ${step.action}`
  const target = (step: StepRef) => spec.targets[step.target]?.name ?? `target ${step.target}`
  const isSimulated = (step: StepRef) => spec.targets[step.target]?.connection.type === 'simulated'
  return {
    place: (step) => `${action(step)} on ${isSimulated(step) ? 'simulated ' : ''}${target(step)}`,
    rollbackBegins: spec.targets.every((_, target) => isSimulated({ target, action: 0 }))
      ? 'Rollback begins (simulated)'
      : 'Rollback begins',
    firstFailure: (step, reason) => {
      const kind = isSimulated(step) ? 'simulated target' : 'target'
      return clip(`Action "${action(step)}" failed on ${kind} "${target(step)}": ${reason}`)
    },
  }
}

/** Why a command that Slipway did not kill counts as failed; null if it succeeded. */
export function failureOf(end: CommandEnd): CommandFailure | null {
  if (end.signal !== null) return commandFailure(`killed by ${end.signal}`, 'signal', end.signal)
  return end.exitCode === 0 ? null : commandFailure(`exit code ${end.exitCode}`)
}

export function stopText(reason: StopReason): string {
  switch (reason) {
    case 'cancelled':
      return 'the deployment was cancelled'
    case 'overdue':
      return 'the deployment ran out of its time'
    case 'finished':
    case 'final':
      return 'the deployment has ended'
    case 'lost':
    case 'unknown':
      return 'the run belongs to another instance'
  }
}

export function timedOut(seconds: number): string {
  return `killed after ${seconds} s (timeout_seconds)`
}

export function outputCut(bytes: number): string {
  return `The output is longer than ${bytes} bytes (SLIPWAY_STEP_OUTPUT_BYTES): from here on only its end is kept`
}

export function outputLeftOut(lines: number, bytes: number): string {
  return `${lines} lines (${bytes} bytes) of the output are left out here`
}

/** `count` is null if the target does not tell it. */
export function leftoversKilled(count: number | null): string {
  const what = count === null ? 'what' : count === 1 ? '1 process that' : `${count} processes that`
  return (
    `Killed ${what} the command left in the background. "&" and nohup do not keep a process: start a service with ` +
    '"systemctl start", another program with "systemd-run" or "setsid"'
  )
}

export function waitingForSpace(problem: string): string {
  return clip(`Waiting for space on the disk of the instance: ${problem}`)
}

export function deploymentTimedOut(spec: RunSpec): string {
  return `the deployment took longer than ${spec.options.deployment_timeout_seconds} s (deployment_timeout_seconds)`
}

type Interruption = 'restarted' | 'fenced'

export function interrupted(interruption: Interruption, what: 'command' | 'rollback script'): CommandFailure {
  return interruption === 'restarted'
    ? commandFailure(`the instance was restarted while the ${what} ran`, 'instance_restarted')
    : commandFailure(`the instance lost contact with Slipway and killed the ${what}`, 'instance_cut_off')
}

/** The protocol limits error texts to 10,000 characters. */
export function clip(text: string, characters = 9_000): string {
  return text.length > characters ? `${text.slice(0, characters)}…` : text
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
