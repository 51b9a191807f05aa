import { Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Right } from '../session/use-right.ts'
import { DeniedButton } from './denied-button.tsx'
import type { Search } from './use-address.ts'

interface Props extends ButtonProps {
  /** Whether the user may do what the address is for. */
  may: Right
  to: string
  search: Search
  'aria-label'?: string
  children: ReactNode
}

/** A button that leads to another screen, for users who may do there what it says. */
export function LinkButton({ may, to, search, ...button }: Props) {
  if (!may.allowed) return <DeniedButton because={may.because} {...button} />
  return <Button component={Link} to={to} search={search as never} {...button} />
}
