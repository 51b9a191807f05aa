import { Badge, Group, TagsInput } from '@mantine/core'
import type { Schema } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'

type Tag = Schema<'Tag'>

export const tagText = ({ key, value }: Tag) => `${key}:${value}`

/** The key ends at the first colon; a value may have more of them. */
export function parseTag(text: string): Tag {
  const colon = text.indexOf(':')
  return colon < 0 ? { key: text, value: '' } : { key: text.slice(0, colon), value: text.slice(colon + 1) }
}

/** Each tag leads to the targets that have it. */
export function TagLinks({ tags }: { tags: Tag[] }) {
  return (
    <Group gap={4}>
      {tags.map((tag) => (
        <Badge
          key={tagText(tag)}
          component={Link}
          to="/targets"
          search={{ tag: tagText(tag) } as never}
          variant="default"
          tt="none"
          radius="sm"
          style={{ cursor: 'pointer' }}
        >
          {tagText(tag)}
        </Badge>
      ))}
    </Group>
  )
}

const MAX_SUGGESTED = 100

/** The tags that targets already have, as `key:value`. Empty for users who may not read tags. */
export function useTagTexts(): string[] {
  const { can } = useSession()
  const tags = useRead('listTags', { query: { limit: MAX_SUGGESTED } }, { enabled: can('tags:read') })
  return (tags.data?.data ?? []).map(tagText)
}

export function TagsField({ value, onChange }: { value: string[]; onChange: (texts: string[]) => void }) {
  const suggested = useTagTexts()
  return (
    <TagsInput
      label="Tags"
      description="Written as key:value, such as role:web. Press Enter after each one."
      acceptValueOnBlur
      data={suggested}
      value={value}
      onChange={onChange}
    />
  )
}
