import type { Schema } from '@slipway/client'
import type { ReactNode } from 'react'
import { FormModal } from './form-modal.tsx'
import { NameFields, useNameFields } from './name-fields.tsx'
import { SelectorInput, useSelector } from './selector-input.tsx'
import { type StoredVariables, useVariables } from './variables.ts'
import { VariablesEditor } from './variables-editor.tsx'

interface Stored extends StoredVariables {
  name: string
  description: string | null
  instance_selector: Schema<'InstanceSelector'> | null
}

interface Props {
  /** One record, such as "tenant". */
  kind: string
  /** Null for a new one. */
  record: Stored | null
  writes: readonly { isPending: boolean; error: Error | null }[]
  /** Sends name, description and, where they have changed, instance selector and variables. */
  save: (
    fields: Pick<Stored, 'name' | 'description'> & Partial<StoredVariables & Pick<Stored, 'instance_selector'>>,
  ) => void
  onClose: () => void
  /** The inputs that only this kind has. */
  children: ReactNode
}

/** The form of a record with a name, an instance selector and variables. */
export function VariableRecordForm({ kind, record, writes, save, onClose, children }: Props) {
  const named = useNameFields(record)
  const selector = useSelector(record)
  const variables = useVariables(record)
  const submit = () => {
    const selected = selector.fieldsToSend()
    const changes = variables.fieldsToSend()
    if (selected !== null && changes !== null) save({ ...named.fields, ...selected, ...changes })
  }
  return (
    <FormModal
      title={record ? `Change ${record.name}` : `New ${kind}`}
      submitLabel={record ? 'Save' : 'Create'}
      size="xl"
      writes={[...writes, variables]}
      onSubmit={submit}
      onClose={onClose}
    >
      <NameFields {...named.inputs} />
      {children}
      <SelectorInput kind={kind} {...selector.inputs} />
      <VariablesEditor rows={variables.rows} onChange={variables.setRows} />
    </FormModal>
  )
}
