import type { Answer } from '@slipway/client'
import type { Right } from '../../session/use-right.ts'

type Request = Pick<Answer<'getPending'>, 'status' | 'approvals' | 'can_approve' | 'triggered_by'>

interface Viewer {
  id: string
  username: string
  roles: readonly string[]
  role_bindings: readonly { role: string }[]
  /** Whether the user has the permission to approve what the request touches. */
  right: Right
}

/** What a user may do about a request that needs approvals. Both buttons are shown. */
export interface ApprovalStand {
  mayApprove: boolean
  mayReject: boolean
  /** Why the user may not approve; null if that is plain. */
  why: string | null
}

/** Null for a request without approvals. The server decides; this says why its answer would be no. */
export function approvalStand(request: Request, viewer: Viewer): ApprovalStand | null {
  const { status, approvals, can_approve = false, triggered_by } = request
  if (approvals === undefined || status !== 'pending') return null
  const none = { mayApprove: false, mayReject: false }
  const { rules, given } = approvals
  if (!viewer.right.allowed) {
    return { ...none, why: viewer.right.because && `You may not approve: ${viewer.right.because}.` }
  }
  const roles = [...viewer.roles, ...viewer.role_bindings.map(({ role }) => role)]
  const wanted = [...new Set(rules.map(({ role }) => role))]
  if (wanted.every((role) => role !== null && !roles.includes(role))) {
    return { ...none, why: `You may not approve: you need the role ${wanted.join(' or ')}.` }
  }
  if (triggered_by === viewer.username && !rules.every(({ allow_author }) => allow_author)) {
    return { ...none, why: 'You asked for this deployment, so somebody else must approve it. You can cancel it.' }
  }
  const refused = { mayApprove: can_approve, mayReject: true }
  if (given.some(({ user_id }) => user_id === viewer.id)) return { ...refused, why: 'You have approved it.' }
  if (rules.every(({ missing }) => missing === 0)) return { ...refused, why: 'It has all approvals that it needs.' }
  return { ...refused, why: can_approve ? null : 'You may not approve it: your roles do not cover it.' }
}
