import type { Input } from '@slipway/client'
import type { Command } from 'commander'
import { UsageError } from '../exit-code.ts'
import type { Context } from './context.ts'
import { addValueOption, findRoles, type Given, toNullable, type Verb } from './record-options.ts'
import { findId } from './records.ts'
import { omitUndefined, parseIntegerBetween } from './values.ts'

type Rules = NonNullable<Input<'updateEnvironment'>['body']['rules']>

/** What deployments to an environment need before they start. */
export interface RuleOptions {
  approvals?: Given<number>
  approverRole?: Given<string>
  promotion?: Given<string>
  promotionHours?: number
}

export function addRuleOptions(command: Command, verb: Verb): Command {
  addValueOption(
    command,
    verb,
    '--approvals <number>',
    'how many users must approve a deployment',
    parseIntegerBetween(1, 5),
  )
  addValueOption(command, verb, '--approver-role <role>', 'only users with this role may approve')
  addValueOption(command, verb, '--promotion <environment>', 'a version must be in force in this environment before')
  return command.option(
    '--promotion-hours <number>',
    'for how many hours it must be in force there',
    parseIntegerBetween(0, 8_760),
  )
}

/** Returns all rules, because a change replaces all of them. Null: there is none. */
export async function buildRules(
  context: Context,
  { approvals, approverRole, promotion, promotionHours }: RuleOptions,
  current: Rules,
): Promise<Rules | null | undefined> {
  const { client } = context
  const given = [approvals, approverRole, promotion, promotionHours]
  if (given.every((one) => one === undefined)) return undefined
  const { approvals: before, promotion: source, ...others } = current
  const asks = approvals === undefined ? before !== undefined || typeof approverRole === 'string' : approvals !== false
  const [role] =
    typeof approverRole === 'string'
      ? ((await findRoles(context, [approverRole])) ?? [])
      : [toNullable<string>(approverRole)]
  const from = typeof promotion === 'string' ? await findId(client, 'environment', promotion) : promotion
  const from_environment_id = from ?? source?.from_environment_id ?? false
  if (from_environment_id === false && promotionHours !== undefined)
    throw new UsageError('--promotion-hours needs --promotion: the environment in which the version must be before')
  const rules: Rules = {
    ...others,
    ...(asks
      ? {
          approvals: {
            ...before,
            ...omitUndefined({ count: approvals || undefined, role }),
          },
        }
      : {}),
    ...(from_environment_id === false
      ? {}
      : { promotion: { ...source, from_environment_id, ...omitUndefined({ hours: promotionHours }) } }),
  }
  return Object.keys(rules).length === 0 ? null : rules
}
