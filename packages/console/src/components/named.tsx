import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** A name, and below it what it stands for. */
export function Named({ name, children }: { name: ReactNode; children?: ReactNode }) {
  return (
    <>
      <Text size="sm" fw={600} component="div">
        {name}
      </Text>
      {children && (
        <Text size="xs" component="div">
          {children}
        </Text>
      )}
    </>
  )
}
