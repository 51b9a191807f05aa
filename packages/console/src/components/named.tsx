import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** A name, and beside it what it stands for. */
export function Named({ name, children }: { name: ReactNode; children?: ReactNode }) {
  return (
    <>
      <Text size="sm" fw={600} span>
        {name}
      </Text>
      {children && (
        <Text size="xs" c="dimmed" span ml={6}>
          {children}
        </Text>
      )}
    </>
  )
}
