import { Button, Select } from '@mantine/core'
import type { Item } from '@slipway/client'
import { type ReactNode, useState } from 'react'
import { client } from '../../api/client.ts'
import { counted } from '../../components/counted.ts'
import { DeniedButton } from '../../components/denied-button.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { parseTag, TagsField, tagText } from '../../components/tags.tsx'
import { type Right, useRight } from '../../session/use-right.ts'
import { BulkDialog } from './bulk-dialog.tsx'

type Target = Item<'listTargets'>

interface Props {
  targets: readonly Target[]
  onDone: () => void
}

type Act = 'enable' | 'disable' | 'add' | 'remove'
const LABELS: Record<Act, string> = { enable: 'Enable', disable: 'Disable', add: 'Add tags', remove: 'Remove a tag' }

/** What can be done with several targets. The server decides about each of them. */
export function BulkActs({ targets, onDone }: Props) {
  const [act, setAct] = useState<Act | null>(null)
  const mayUpdate = useRight('targets:update')
  const mayDeploy = useRight('deployments:create')
  const enabled = targets.filter((target) => target.enabled)
  const close = (isDone: boolean) => {
    setAct(null)
    if (isDone) onDone()
  }
  const dialog = { targets, onClose: close }
  return (
    <>
      {enabled.length > 0 && (
        <LinkButton
          may={mayDeploy}
          to="/deploy"
          search={{ targets: enabled.map(({ id }) => id).join(',') }}
          size="compact-sm"
        >
          Deploy to {counted(enabled.length, 'target')}
        </LinkButton>
      )}
      {(['enable', 'disable', 'add', 'remove'] as const).map((one) => (
        <ActButton key={one} may={mayUpdate} onClick={() => setAct(one)}>
          {LABELS[one]}
        </ActButton>
      ))}
      {act === 'enable' && <SetEnabled {...dialog} enabled />}
      {act === 'disable' && <SetEnabled {...dialog} enabled={false} />}
      {act === 'add' && <AddTags {...dialog} />}
      {act === 'remove' && <RemoveTag {...dialog} />}
    </>
  )
}

function ActButton({ may, onClick, children }: { may: Right; onClick: () => void; children: ReactNode }) {
  const look = { size: 'compact-sm', variant: 'default' } as const
  if (may.allowed) {
    return (
      <Button {...look} onClick={onClick}>
        {children}
      </Button>
    )
  }
  return (
    <DeniedButton {...look} because={may.because}>
      {children}
    </DeniedButton>
  )
}

interface DialogProps {
  targets: readonly Target[]
  onClose: (isDone: boolean) => void
}

function SetEnabled({ enabled, ...dialog }: DialogProps & { enabled: boolean }) {
  return (
    <BulkDialog
      {...dialog}
      label={enabled ? 'Enable' : 'Disable'}
      question={
        enabled ? 'They take part in deployments again.' : 'Deployments leave them out until they are enabled again.'
      }
      act={({ id }) => client.call('updateTarget', { params: { id }, body: { enabled } })}
    />
  )
}

function AddTags(dialog: DialogProps) {
  const [texts, setTexts] = useState<string[]>([])
  return (
    <BulkDialog
      {...dialog}
      label="Add tags"
      question="They keep the tags that they have."
      isReady={texts.length > 0}
      act={(target) => changeTags(target, (has) => [...new Set([...has, ...texts])])}
    >
      <TagsField value={texts} onChange={setTexts} error={undefined} />
    </BulkDialog>
  )
}

function RemoveTag(dialog: DialogProps) {
  const [text, setText] = useState<string | null>(null)
  const texts = [...new Set(dialog.targets.flatMap(({ tags }) => tags.map(tagText)))].sort()
  return (
    <BulkDialog
      {...dialog}
      label="Remove a tag"
      question="Targets without it stay as they are."
      isReady={text !== null}
      act={(target) => changeTags(target, (has) => has.filter((one) => one !== text))}
    >
      <Select label="Tag" searchable required data={texts} value={text} onChange={setText} />
    </BulkDialog>
  )
}

/** The tags are read again first: the list may be older than the last change of another user. */
async function changeTags({ id }: Target, change: (texts: string[]) => string[]): Promise<void> {
  const { tags } = await client.call('getTarget', { params: { id } })
  const before = tags.map(tagText)
  const after = change(before)
  if (after.length === before.length) return
  await client.call('updateTarget', { params: { id }, body: { tags: after.map(parseTag) } })
}
