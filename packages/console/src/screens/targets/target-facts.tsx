import { Code } from '@mantine/core'
import { type Answer, formatSelector } from '@slipway/client'
import type { ReactNode } from 'react'
import { useWrite } from '../../api/queries.ts'
import { describeConcurrency } from '../../components/concurrency-select.tsx'
import { NAME_FIELDS, namesOf, RecordForm } from '../../components/record-form.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { Facts } from '../../components/section.tsx'
import { SelectorInput, selectorChange, selectorText } from '../../components/selector-input.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { ChangeSection } from './change-section.tsx'
import { AS_ENVIRONMENT, placeFields, placeOf } from './place-fields.tsx'
import { TargetStatus } from './target-columns.tsx'

interface Props {
  target: Answer<'getTarget'>
}

export function TargetFacts({ target }: Props) {
  return (
    <ChangeSection
      target={target}
      title="Target"
      changes="the target"
      form={(onClose) => <ChangeTarget target={target} onClose={onClose} />}
    >
      <Facts
        facts={[
          ['Status', <TargetStatus key="status" target={target} />],
          ['Last seen', <TimeAgo key="seen" at={target.last_seen_at} />],
          ...describeFailure(target),
          ['Description', target.description ?? '–'],
          ['Environment', <RecordName key="environment" kind="environment" id={target.environment_id} />],
          ['Tenant', <RecordName key="tenant" kind="tenant" id={target.tenant_id} />],
          ['Instances', <SelectorText key="selector" target={target} />],
          ['Concurrency', describeConcurrency(target.concurrency, AS_ENVIRONMENT)],
          ['Managed by', target.managed_by ?? '–'],
          ['Id', <Code key="id">{target.id}</Code>],
          ['Short id', <Code key="sqid">{target.sqid}</Code>],
          ['Created', <TimeAgo key="created" at={target.created_at} />],
        ]}
      />
    </ChangeSection>
  )
}

function SelectorText({ target }: Props) {
  const text = formatSelector(target.instance_selector)
  return text === '' ? 'Any' : <Code>{text}</Code>
}

function ChangeTarget({ target, onClose }: Props & { onClose: () => void }) {
  const update = useWrite('updateTarget', 'getTarget', 'listTargets')
  return (
    <RecordForm
      kind="target"
      stored={target}
      initial={{ ...namesOf(target), ...placeOf(target), selector: selectorText(target) }}
      fields={[
        ...NAME_FIELDS,
        placeFields,
        ({ bind }) => <SelectorInput kind="target" {...bind('selector', '/instance_selector')} />,
      ]}
      asks={({ environment_id }) => ({ permission: 'targets:update', object: { kind: 'target', environment_id } })}
      writes={[update]}
      save={(_, { selector, ...changed }, expected) => {
        const body = { ...changed, ...selectorChange(selector), ...expected }
        update.mutate({ params: { id: target.id }, body }, { onSuccess: onClose })
      }}
      onClose={onClose}
    />
  )
}

function describeFailure({ last_error, unreachable_since }: Props['target']): [string, ReactNode][] {
  if (last_error === null) return []
  const since: [string, ReactNode] = ['Not reached since', <TimeAgo key="unreachable" at={unreachable_since} />]
  return [['Not reached because', last_error], ...(unreachable_since === null ? [] : [since])]
}
