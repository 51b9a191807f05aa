import type { ReactNode } from 'react'
import { FormModal } from './form-modal.tsx'
import { NameFields, useNameFields } from './name-fields.tsx'
import { type StoredVariables, useVariables } from './variables.ts'
import { VariablesEditor } from './variables-editor.tsx'

interface Stored extends StoredVariables {
  name: string
  description: string | null
}

interface Props {
  /** One record, such as "tenant". */
  kind: string
  /** Null for a new one. */
  record: Stored | null
  writes: readonly { isPending: boolean; error: Error | null }[]
  /** Sends name, description and, where they have changed, variables. */
  save: (fields: Pick<Stored, 'name' | 'description'> & Partial<StoredVariables>) => void
  onClose: () => void
  /** The inputs that only this kind has. */
  children: ReactNode
}

/** The form of a record with a name and variables. */
export function VariableRecordForm({ kind, record, writes, save, onClose, children }: Props) {
  const named = useNameFields(record)
  const variables = useVariables(record)
  const submit = () => {
    const changes = variables.fieldsToSend()
    if (changes !== null) save({ ...named.fields, ...changes })
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
      <VariablesEditor rows={variables.rows} onChange={variables.setRows} />
    </FormModal>
  )
}
