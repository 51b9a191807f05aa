import { Code, Text } from '@mantine/core'

/** A longer text as it is, below its title. */
export function TextBlock({ title, text }: { title?: string; text: string }) {
  return (
    <div>
      {title && (
        <Text size="sm" fw={600}>
          {title}
        </Text>
      )}
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {text}
      </Code>
    </div>
  )
}
