import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { NAME_FIELDS, namesOf, RecordForm } from '../../components/record-form.tsx'
import { SelectorInput, selectorChange, selectorText } from '../../components/selector-input.tsx'
import { rowsOf, variablesChange } from '../../components/variables.ts'
import { VariablesEditor } from '../../components/variables-editor.tsx'

interface Props {
  /** Null for a new one. */
  tenant: Item<'listTenants'> | null
  onClose: () => void
}

export function TenantForm({ tenant, onClose }: Props) {
  const create = useWrite('createTenant', 'listTenants')
  const update = useWrite('updateTenant', 'listTenants', 'getTenant')
  return (
    <RecordForm
      kind="tenant"
      stored={tenant}
      size="xl"
      initial={{
        ...namesOf(tenant),
        slug: tenant?.slug ?? '',
        selector: selectorText(tenant),
        rows: rowsOf(tenant),
      }}
      fields={[
        ...NAME_FIELDS,
        {
          name: 'slug',
          label: 'Slug',
          description:
            'Short name of lower-case letters, digits and hyphens. Slipway derives an empty one from the name.',
          pattern: '[a-z0-9]+(-[a-z0-9]+)*',
          title: 'Lower-case letters, digits and hyphens',
          required: tenant !== null,
        },
        ({ bind }) => <SelectorInput kind="tenant" {...bind('selector', '/instance_selector')} />,
        ({ bind }) => <VariablesEditor {...bind('rows', '/variables')} />,
      ]}
      writes={[create, update]}
      save={({ name }, { selector, rows, ...changed }, expected) => {
        const body = { ...changed, ...selectorChange(selector), ...variablesChange(rows) }
        const done = { onSuccess: onClose }
        if (tenant) update.mutate({ params: { id: tenant.id }, body: { ...body, ...expected } }, done)
        else create.mutate({ body: { ...body, name } }, done)
      }}
      onClose={onClose}
    />
  )
}
