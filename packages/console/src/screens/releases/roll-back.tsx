import { Button, type ButtonProps } from '@mantine/core'
import { useState } from 'react'
import { DeniedButton } from '../../components/denied-button.tsx'
import { useRight } from '../../session/use-right.ts'
import { RollbackDialog, type RollbackScope } from './rollback-dialog.tsx'

interface Props extends ButtonProps {
  scope: RollbackScope
  'aria-label'?: string
}

/** A button that shows what a rollback would bring back, and rolls back after that. */
export function RollBack({ scope, ...button }: Props) {
  const [isOpen, setOpen] = useState(false)
  const { kind, id, environmentId = null } = scope
  const may = useRight('deployments:create', {
    kind: 'deployment',
    environment_id: environmentId,
    source: { type: kind, id },
  })
  if (!may.allowed) {
    return (
      <DeniedButton because={may.because} {...button}>
        Roll back…
      </DeniedButton>
    )
  }
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)}>
        Roll back…
      </Button>
      {isOpen && <RollbackDialog scope={scope} onClose={() => setOpen(false)} />}
    </>
  )
}
