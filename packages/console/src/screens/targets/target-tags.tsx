import { Button, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'
import { FormModal } from '../administration/form-modal.tsx'
import { Section } from './section.tsx'
import { parseTag, TagLinks, TagsField, tagText } from './tags.tsx'

interface Props {
  target: Answer<'getTarget'>
}

export function TargetTags({ target }: Props) {
  const { can } = useSession()
  const [isChanging, setChanging] = useState(false)
  return (
    <Section
      title="Tags"
      action={
        can('targets:update') && (
          <Button size="compact-xs" variant="default" aria-label="Change the tags" onClick={() => setChanging(true)}>
            Change
          </Button>
        )
      }
    >
      {target.tags.length === 0 ? (
        <Text size="sm">No tags. Deployments select targets by their tags.</Text>
      ) : (
        <TagLinks tags={target.tags} />
      )}
      {isChanging && <ChangeTags target={target} onClose={() => setChanging(false)} />}
    </Section>
  )
}

function ChangeTags({ target, onClose }: Props & { onClose: () => void }) {
  const update = useWrite('updateTarget', 'getTarget', 'listTargets', 'listTags')
  const [texts, setTexts] = useState(() => target.tags.map(tagText))
  const submit = () => {
    const body = { tags: texts.map(parseTag) }
    update.mutate({ params: { id: target.id }, body }, { onSuccess: onClose })
  }
  return (
    <FormModal title="Change the tags" submitLabel="Save" writes={[update]} onSubmit={submit} onClose={onClose}>
      <TagsField value={texts} onChange={setTexts} />
    </FormModal>
  )
}
