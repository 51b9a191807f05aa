import { TagsInput } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { labelText, parseLabel } from './label-text.ts'

interface Props {
  instance: Item<'listInstances'>
  onClose: () => void
}

export function ChangeLabels({ instance: { id, name, labels }, onClose }: Props) {
  const update = useWrite('updateInstance', 'listInstances')
  const [texts, setTexts] = useState(() => Object.entries(labels).map(labelText))
  const submit = () => {
    const given = texts.map(parseLabel).map(([key, value]) => [key, value ?? ''] as const)
    update.mutate({ params: { id }, body: { labels: Object.fromEntries(given) } }, { onSuccess: onClose })
  }
  return (
    <FormModal title={`Labels of ${name}`} submitLabel="Save" writes={[update]} onSubmit={submit} onClose={onClose}>
      {(problemAt) => (
        <TagsInput
          label="Labels"
          description="Written as key=value. Press Enter after each one. Deployments select instances by them. They hold until the instance reports other labels."
          acceptValueOnBlur
          data-autofocus
          value={texts}
          onChange={setTexts}
          error={problemAt('/labels')}
        />
      )}
    </FormModal>
  )
}
