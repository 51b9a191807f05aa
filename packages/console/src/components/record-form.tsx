import { PasswordInput, Textarea, TextInput } from '@mantine/core'
import { SelectorSyntaxError } from '@slipway/client'
import { Fragment, type ReactNode, useState } from 'react'
import type { Permission, RightObject } from '../session/right-question.ts'
import { useRight } from '../session/use-right.ts'
import { changesOf } from './changes.ts'
import type { ProblemAt } from './field-problem.ts'
import { FormModal } from './form-modal.tsx'
import { InvalidInput } from './variables.ts'

/** The values of a form, and how an input shows and changes one of them. */
export interface FormState<V> {
  values: V
  /** `pointer`: where the API has the value, if not under its name. */
  bind: <K extends keyof V & string>(
    name: K,
    pointer?: string,
  ) => {
    value: V[K]
    onChange: (value: V[K]) => void
    /** What the server says is wrong with the value. */
    error: string | undefined
  }
  set: (changed: Partial<V>) => void
  problemAt: ProblemAt
}

type TextName<V> = { [K in keyof V]-?: V[K] extends string | null ? K : never }[keyof V] & string

interface TextField<V> {
  name: TextName<V>
  label: string
  description?: string
  /** A long text has several lines. */
  type?: 'text' | 'email' | 'url' | 'password' | 'long'
  /** An empty text counts as null. */
  isNullable?: boolean
  required?: boolean
  placeholder?: string
  minLength?: number
  maxLength?: number
  pattern?: string
  /** What the browser says when a text does not have the pattern. */
  title?: string
}

/** An input for a text, or a function that draws other inputs. */
export type Field<V> = TextField<V> | ((form: FormState<V>) => ReactNode)

interface Expected {
  expected_updated_at?: string
}

interface Stored {
  name: string
  updated_at?: string
}

interface Props<V> {
  /** One record, such as "tenant". */
  kind: string
  /** The stored record as it is shown; absent for a new one. */
  stored?: Stored | null | undefined
  /** In place of "Edit" and the name. */
  title?: string
  size?: 'lg' | 'xl'
  initial: V
  /** The first one gets the focus. */
  fields: readonly Field<NoInfer<V>>[]
  /** The writes of this form: while one runs the form is busy, and the first error is shown. */
  writes: readonly { isPending: boolean; error: Error | null }[]
  /** What right the values need. Without it the button says why not. */
  asks?: (values: NoInfer<V>) => { permission: Permission; object: RightObject }
  /**
   * Gets all values, those that have changed, and what a body has so that it undoes no change that the form did not show. An InvalidInput or SelectorSyntaxError that it throws is shown.
   */
  save: (values: NoInfer<V>, changed: Partial<NoInfer<V>>, expected: Expected) => void
  onClose: () => void
}

/** The form of a new or a stored record. It sends nothing when nothing of a stored record has changed. */
export function RecordForm<V extends object>(props: Props<V>) {
  const { kind, stored, title = `Edit ${stored?.name}`, size = 'lg', fields, writes, save, onClose } = props
  const [initial] = useState(props.initial)
  const [expected] = useState((): Expected => (stored?.updated_at ? { expected_updated_at: stored.updated_at } : {}))
  const [values, setValues] = useState(initial)
  const [refusal, setRefusal] = useState<Error | null>(null)
  const asked = props.asks?.(values)
  const right = useRight(asked?.permission ?? null, asked?.object)
  const set = (changed: Partial<V>) => setValues((known) => ({ ...known, ...changed }))
  const formOf = (problemAt: ProblemAt): FormState<V> => ({
    values,
    set,
    problemAt,
    bind: (name, pointer = `/${name}`) => ({
      value: values[name],
      onChange: (value) => setValues((known) => ({ ...known, [name]: value })),
      error: problemAt(pointer),
    }),
  })
  const submit = () => {
    setRefusal(null)
    const given = trim(values, fields)
    const changed = changesOf(initial, given)
    if (stored && Object.keys(changed).length === 0) return onClose()
    try {
      save(given, changed, expected)
    } catch (problem) {
      if (!(problem instanceof InvalidInput || problem instanceof SelectorSyntaxError)) throw problem
      setRefusal(problem)
    }
  }
  return (
    <FormModal
      title={stored ? title : `New ${kind}`}
      submitLabel={stored ? 'Save' : 'Create'}
      size={size}
      writes={[...writes, { isPending: false, error: refusal }]}
      may={right}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problemAt) =>
        fields.map((field, index) =>
          typeof field === 'function' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the fields of a form keep their order
            <Fragment key={index}>{field(formOf(problemAt))}</Fragment>
          ) : (
            <TextFieldInput
              key={field.name}
              field={field}
              isFirst={index === 0}
              value={String(values[field.name] ?? '')}
              error={problemAt(`/${field.name}`)}
              onChange={(text) => setValues((known) => ({ ...known, [field.name]: text }))}
            />
          ),
        )
      }
    </FormModal>
  )
}

interface InputProps {
  field: Omit<TextField<object>, 'name'>
  isFirst: boolean
  value: string
  error: string | undefined
  onChange: (text: string) => void
}

function TextFieldInput({ field, isFirst, onChange, ...shown }: InputProps) {
  const { type = 'text', isNullable: _, ...texts } = field
  const input = {
    ...texts,
    ...shown,
    onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
    'data-autofocus': isFirst || undefined,
  }
  if (type === 'long') return <Textarea autosize {...input} />
  if (type === 'password') return <PasswordInput autoComplete="new-password" {...input} />
  return <TextInput type={type} autoComplete="off" {...input} />
}

/** Without spaces around texts, other than passwords. */
function trim<V extends object>(values: V, fields: readonly Field<V>[]): V {
  let given = values
  for (const field of fields) {
    if (typeof field === 'function' || field.type === 'password') continue
    const text = String(values[field.name] ?? '').trim()
    given = { ...given, [field.name]: text === '' && field.isNullable ? null : text }
  }
  return given
}

interface Named {
  name: string
  description: string | null
}

export const namesOf = (record: Named | null): Named => ({
  name: record?.name ?? '',
  description: record?.description ?? null,
})

/** Name and description of a record. */
export const NAME_FIELDS = [
  { name: 'name', label: 'Name', required: true, maxLength: 255 },
  { name: 'description', label: 'Description', type: 'long', isNullable: true },
] as const satisfies Field<Named>[]
