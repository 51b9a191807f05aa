import { Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { parseTag, TagLinks, TagsField, tagText } from '../../components/tags.tsx'
import { ChangeSection } from './change-section.tsx'

interface Props {
  target: Answer<'getTarget'>
}

export function TargetTags({ target }: Props) {
  return (
    <ChangeSection
      target={target}
      title="Tags"
      changes="the tags"
      form={(onClose) => <ChangeTags target={target} onClose={onClose} />}
    >
      {target.tags.length === 0 ? (
        <Text size="sm">No tags. Deployments select targets by their tags.</Text>
      ) : (
        <TagLinks tags={target.tags} />
      )}
    </ChangeSection>
  )
}

function ChangeTags({ target, onClose }: Props & { onClose: () => void }) {
  const update = useWrite('updateTarget', 'getTarget', 'listTargets', 'listTags')
  const [texts, setTexts] = useState(() => target.tags.map(tagText))
  const [expected_updated_at] = useState(target.updated_at)
  const submit = () => {
    const body = { tags: texts.map(parseTag), expected_updated_at }
    update.mutate({ params: { id: target.id }, body }, { onSuccess: onClose })
  }
  return (
    <FormModal title="Edit the tags" submitLabel="Save" writes={[update]} onSubmit={submit} onClose={onClose}>
      {(problemAt) => <TagsField value={texts} onChange={setTexts} error={problemAt('/tags')} />}
    </FormModal>
  )
}
