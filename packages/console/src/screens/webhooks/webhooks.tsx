import { useAddress } from '../../components/use-address.ts'
import { Deliveries } from './deliveries.tsx'
import { WebhookList } from './webhook-list.tsx'

/** All webhooks, or the deliveries of the one in the address. */
export function Webhooks() {
  const { search } = useAddress()
  const id = search['webhook']
  return id ? <Deliveries key={id} id={id} /> : <WebhookList />
}
