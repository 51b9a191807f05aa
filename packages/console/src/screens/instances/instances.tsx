import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { RecordsPage } from '../../components/records-page.tsx'
import { useAddress } from '../../components/use-address.ts'
import { InstanceTable } from './instance-table.tsx'
import { JoinTokens } from './join-tokens.tsx'

export function Instances() {
  const { listQuery } = useAddress()
  useLive('listInstances')
  const instances = useRead('listInstances', { query: listQuery }, { keep: true })
  return (
    <RecordsPage
      title="Instances"
      command="slipway instances list"
      record="instance"
      purpose="An orchestration instance runs the commands of deployments. Create a join token below, then start an instance with it."
      read={instances}
      below={<JoinTokens />}
    >
      {(data) => <InstanceTable instances={data} />}
    </RecordsPage>
  )
}
