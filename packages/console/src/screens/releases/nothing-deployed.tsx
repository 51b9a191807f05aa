import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Empty } from '../../components/page.tsx'
import { useSession } from '../../session/session.tsx'

interface Props {
  isFiltered: boolean
  onRemoveFilters: () => void
}

/** Stands where no release is found. */
export function NothingDeployed({ isFiltered, onRemoveFilters }: Props) {
  const { can } = useSession()
  if (isFiltered) {
    return (
      <Empty title="Nothing fits">
        Nothing with these filters is in force or was attempted.
        <div>
          <Button mt="sm" variant="default" onClick={onRemoveFilters}>
            Remove filters
          </Button>
        </div>
      </Empty>
    )
  }
  return (
    <Empty title="Nothing has been deployed yet">
      The first deployment appears here as soon as its first command starts.
      {can('deployments:create') && (
        <div>
          <Button component={Link} to="/deploy" mt="sm">
            Deploy
          </Button>
        </div>
      )}
    </Empty>
  )
}
