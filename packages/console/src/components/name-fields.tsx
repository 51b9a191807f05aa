import { Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'

interface Stored {
  name: string
  description: string | null
}

/** Name and description of a form, and how to send them. */
export function useNameFields(record: Stored | null) {
  const [name, setName] = useState(record?.name ?? '')
  const [description, setDescription] = useState(record?.description ?? '')
  const fields: Stored = { name: name.trim(), description: description.trim() || null }
  return { fields, inputs: { name, setName, description, setDescription } }
}

type Inputs = ReturnType<typeof useNameFields>['inputs']

export function NameFields({ placeholder, ...inputs }: Inputs & { placeholder?: string }) {
  const { name, setName, description, setDescription } = inputs
  return (
    <>
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={255}
        {...(placeholder === undefined ? {} : { placeholder })}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Textarea
        label="Description"
        autosize
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
    </>
  )
}
