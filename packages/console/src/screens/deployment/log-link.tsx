import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Step } from './grid-rows.ts'

interface Props {
  /** The deployment. */
  id: string
  /** Undefined: the plan is not known, so there is no link. */
  step: Pick<Step, 'target_id' | 'action_id'> | undefined
  /** Its colour, where the usual one is too pale. */
  c?: 'inherit'
  children: ReactNode
}

/** The line in an address that stands for the one with which the shown step failed. */
export const FAILED_LINE = 'failed'

/** Leads to the log of one step on its target, at the place where it failed. */
export function LogLink({ id, step, c, children }: Props) {
  if (step === undefined) return <>{children}</>
  const search = { tab: 'log', target: step.target_id, step: step.action_id, line: FAILED_LINE }
  return (
    <Anchor component={Link} to={`/deployments/${id}`} search={search as never} size="sm" {...(c ? { c } : {})}>
      {children}
    </Anchor>
  )
}
