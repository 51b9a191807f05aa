import { BlockList, isIPv6 } from 'node:net'
import { type Manifest, ofKind, type Peer, type Rule, selects } from './manifests.ts'

/** A pod, by its namespace and labels, or an address outside of the cluster. */
export type End = { namespace: string; labels: Record<string, string> } | { address: string }

const isPod = (end: End) => 'namespace' in end

/** Whether the policies of both sides allow a connection. */
export function reaches(manifests: Manifest[], from: End, to: End, port: number): boolean {
  return passes(manifests, 'Egress', from, to, port) && passes(manifests, 'Ingress', to, from, port)
}

function passes(manifests: Manifest[], type: 'Egress' | 'Ingress', self: End, other: End, port: number): boolean {
  if (!('namespace' in self)) return true
  const policies = ofKind(manifests, 'NetworkPolicy').filter(
    ({ metadata, spec }) =>
      metadata.namespace === self.namespace &&
      spec?.policyTypes?.includes(type) &&
      selects(spec.podSelector, self.labels),
  )
  // Without a policy for this pod, everything is allowed.
  if (policies.length === 0) return true
  const rules = policies.flatMap(({ spec }) => (type === 'Egress' ? spec?.egress : spec?.ingress) ?? [])
  return rules.some((rule) => allowsPort(rule, port) && allowsPeer(rule, type, other, self.namespace))
}

function allowsPort({ ports }: Rule, port: number): boolean {
  if (ports === undefined) return true
  return ports.some((allowed) => {
    if (allowed.protocol !== undefined && allowed.protocol !== 'TCP') return false
    const first = allowed.port
    return first === undefined || (port >= first && port <= (allowed.endPort ?? first))
  })
}

function allowsPeer(rule: Rule, type: 'Egress' | 'Ingress', other: End, namespace: string): boolean {
  const peers = type === 'Egress' ? rule.to : rule.from
  return peers === undefined || peers.some((peer) => matches(peer, other, namespace))
}

function matches(peer: Peer, other: End, namespace: string): boolean {
  if ('address' in other) return peer.ipBlock !== undefined && within(peer.ipBlock, other.address)
  if (!isPod(other) || peer.ipBlock !== undefined) return false
  const there =
    peer.namespaceSelector === undefined
      ? other.namespace === namespace
      : selects(peer.namespaceSelector, { 'kubernetes.io/metadata.name': other.namespace })
  return there && selects(peer.podSelector, other.labels)
}

function within({ cidr, except = [] }: { cidr: string; except?: string[] }, address: string): boolean {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  const contains = (range: string) => {
    const [network = '', length] = range.split('/')
    const list = new BlockList()
    list.addSubnet(network, Number(length), isIPv6(network) ? 'ipv6' : 'ipv4')
    return isIPv6(network) === isIPv6(address) && list.check(address, family)
  }
  return contains(cidr) && !except.some(contains)
}
