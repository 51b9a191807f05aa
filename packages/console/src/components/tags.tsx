import { Badge, Group, Select, TagsInput, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { Schema } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead } from '../api/queries.ts'
import { useSession } from '../session/session.tsx'
import { searchQuery } from './search-query.ts'

type Tag = Schema<'Tag'>

export const tagText = ({ key, value }: Tag) => `${key}=${value}`

/** The key ends at the first equals sign; a value may have more of them. */
export function parseTag(text: string): Tag {
  const equals = text.indexOf('=')
  return equals < 0 ? { key: text, value: '' } : { key: text.slice(0, equals), value: text.slice(equals + 1) }
}

/** Each tag leads to the targets that have it. */
export function TagLinks({ tags }: { tags: readonly Tag[] }) {
  return (
    <Group gap={4}>
      {tags.map((tag) => (
        <TagLink key={tagText(tag)} tag={tag} />
      ))}
    </Group>
  )
}

const SHOWN_IN_A_ROW = 2

/** The first tags in one line, and how many more there are. */
export function FirstTags({ tags }: { tags: readonly Tag[] }) {
  const more = tags.slice(SHOWN_IN_A_ROW).map(tagText)
  return (
    <div className="data-table-line">
      {tags.slice(0, SHOWN_IN_A_ROW).map((tag) => (
        <TagLink key={tagText(tag)} tag={tag} />
      ))}
      {more.length > 0 && (
        <Text size="xs" span title={more.join('\n')} style={{ whiteSpace: 'nowrap' }}>
          +{more.length}
          <span className="visually-hidden"> more</span>
        </Text>
      )}
    </div>
  )
}

function TagLink({ tag }: { tag: Tag }) {
  return (
    <Badge
      component={Link}
      to="/targets"
      search={{ tag: tagText(tag) } as never}
      variant="default"
      tt="none"
      radius="sm"
      title={tagText(tag)}
      style={{ cursor: 'pointer' }}
    >
      {tagText(tag)}
    </Badge>
  )
}

const MAX_SUGGESTED = 100
const DEBOUNCE_MS = 250

/** Tags that targets have, searched on the server. Empty for users who may not read tags. */
function useTagTexts(text: string): string[] {
  const { can } = useSession()
  const [search] = useDebouncedValue(text, DEBOUNCE_MS)
  const query = { ...searchQuery(search), limit: MAX_SUGGESTED }
  const tags = useRead('listTags', { query }, { enabled: can('tags:read'), keep: true })
  return (tags.data?.data ?? []).map(tagText)
}

interface FilterProps {
  value: string | undefined
  onChange: (text: string | undefined) => void
}

export function TagFilter({ value, onChange }: FilterProps) {
  const [text, setText] = useState('')
  // While the input shows the chosen tag, the list offers every tag.
  const found = useTagTexts(text === value ? '' : text)
  return (
    <Select
      label="Tag"
      placeholder="Any"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Any tag' }}
      nothingFoundMessage="No target has such a tag"
      filter={({ options }) => options}
      onSearchChange={setText}
      data={[...new Set([...(value === undefined ? [] : [value]), ...found])]}
      value={value ?? null}
      onChange={(tag) => onChange(tag ?? undefined)}
    />
  )
}

interface FieldProps {
  value: string[]
  onChange: (texts: string[]) => void
  /** What the server says is wrong. */
  error: string | undefined
}

export function TagsField({ value, onChange, error }: FieldProps) {
  const [text, setText] = useState('')
  const suggested = useTagTexts(text)
  return (
    <TagsInput
      label="Tags"
      description="Written as key=value, such as role=web. Press Enter after each one."
      acceptValueOnBlur
      // Without typed text there is no list: it would lie over the button that saves.
      data={text === '' ? [] : suggested}
      searchValue={text}
      onSearchChange={setText}
      value={value}
      onChange={onChange}
      error={error}
    />
  )
}
