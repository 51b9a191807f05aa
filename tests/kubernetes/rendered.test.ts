import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { loadConfig, serviceConfig } from '@slipway/runtime'
import { repositoryRoot, SERVICES } from '@slipway/testing'
import { CHARTS, chartOf } from './helm.ts'
import { type Manifest, ofKind, type PodSpec, services, templateOf, workloads } from './manifests.ts'
import { settingsOf, violations } from './policies.ts'
import { invalid, misfits } from './schemas.ts'

type Schema = Parameters<typeof serviceConfig>[0]

test('the objects have only fields that Kubernetes and the operators know', () => {
  expect(misfits(CHARTS.flatMap(chartOf))).toEqual([])
})

/** Variables of containers that are not settings of Slipway. */
const NOT_OURS = ['NODE_OPTIONS', 'POD_NAMESPACE']
const withPodFields = (value: string, name: string) =>
  value.replaceAll('$(SLIPWAY_INSTANCE_NAME)', `${name}-0`).replaceAll('$(POD_NAMESPACE)', 'slipway')

/** Examples for variables whose schema has no valid example. */
const EXAMPLES: Record<string, string> = {
  SLIPWAY_INSTANCE_NAME: 'orchestration-instance-0',
  SLIPWAY_ENCRYPTION_KEYS: `2026-01:${Buffer.alloc(32, 1).toString('base64')}`,
  SLIPWAY_JWT_KEYS: `2026-01:${Buffer.alloc(32, 2).toString('base64')}`,
}

describe.each(CHARTS.map((name) => [name, chartOf(name)] as const))('%s', (name, manifests) => {
  test('has every service once, and the jobs that it needs', () => {
    const pools = name === 'everything' ? ['orchestration-instance-disks', 'orchestration-instance-zone-a'] : []
    expect(
      services(manifests)
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual([...SERVICES, ...pools].sort())
    const jobs = ofKind(manifests, 'Job').map(({ metadata }) => metadata.name)
    const bringsRabbitmq = ofKind(manifests, 'RabbitmqCluster').length > 0
    expect(jobs.sort()).toEqual(bringsRabbitmq ? ['broker-users', 'migrate'] : ['migrate'])
  })

  test('has values that the schemas of Kubernetes and the operators allow', async () => {
    expect(await invalid(manifests)).toEqual([])
  })

  test('follows the rules for workloads', () => {
    expect(violations(manifests)).toEqual([])
  })

  test.each(SERVICES)('gives %s a valid configuration', async (name) => {
    const service = services(manifests).find(({ metadata }) => metadata.name === name)
    const pod = service?.spec?.template?.spec ?? { containers: [] }
    const exported: Record<string, Schema> = await import(`../../services/${name}/src/config.ts`)
    const own = Object.values(exported).find((value) => value?.type === 'object' && value.properties)
    const schema = serviceConfig(own as Schema)
    const given: Record<string, string> = settingsOf(manifests, pod)
    for (const { name: variable, value, valueFrom } of pod.containers[0]?.env ?? []) {
      const example = EXAMPLES[variable] ?? schema.properties[variable]?.['examples']?.[0]
      given[variable] = valueFrom ? String(example) : withPodFields(value ?? '', name)
      // Secret values must come from Secrets.
      if (schema.properties[variable]?.['writeOnly'] && value !== undefined) expect(variable).toMatch(/_URL$/)
      if (!NOT_OURS.includes(variable)) expect(schema.properties).toHaveProperty(variable)
    }
    expect(() => loadConfig(schema, given)).not.toThrow()
  })

  test('gives instances their own service account, and a token that only the bridge accepts', () => {
    const podOf = (name: string) =>
      services(manifests).find(({ metadata }) => metadata.name === name)?.spec?.template?.spec ?? { containers: [] }
    const [instance, bridge] = [podOf('orchestration-instance'), podOf('executor-bridge')]
    const others = services(manifests).filter(({ metadata }) => !metadata.name.startsWith('orchestration-instance'))
    expect(others.map(({ spec }) => spec?.template?.spec.serviceAccountName)).not.toContain(instance.serviceAccountName)
    const made = ofKind(manifests, 'ServiceAccount').map(({ metadata }) => metadata.name)
    expect(made).toContain(instance.serviceAccountName)

    const setting = (pod: typeof bridge, variable: string) =>
      pod.containers[0]?.env?.find(({ name }) => name === variable)?.value ?? settingsOf(manifests, pod)[variable]
    expect(setting(bridge, 'SLIPWAY_KUBERNETES_SERVICE_ACCOUNTS')).toBe(
      `$(POD_NAMESPACE)/${instance.serviceAccountName}`,
    )
    expect(setting(bridge, 'SLIPWAY_KUBERNETES_ISSUER')).toMatch(/^https:/)
    /** The audience of a projected token in a mounted file. Null for the API server. */
    const audienceOf = (pod: typeof bridge, file = '') => {
      const mount = pod.containers[0]?.volumeMounts?.find(({ mountPath }) => mountPath === path.dirname(file))
      const sources = pod.volumes?.find(({ name }) => name === mount?.name)?.projected?.sources ?? []
      const token = sources.find(({ serviceAccountToken }) => serviceAccountToken?.path === path.basename(file))
      return token?.serviceAccountToken && (token.serviceAccountToken.audience ?? null)
    }
    expect(audienceOf(instance, setting(instance, 'SLIPWAY_JOIN_TOKEN_FILE'))).toBe('slipway')
    expect(audienceOf(bridge, setting(bridge, 'SLIPWAY_KUBERNETES_TOKEN_FILE'))).toBeNull()
  })

  test('has only documented settings, and no secret among them', () => {
    const known = fs.readFileSync(path.join(repositoryRoot, 'docs/configuration.md'), 'utf8')
    const gateway = services(manifests).find(({ metadata }) => metadata.name === 'gateway')
    const names = Object.keys(settingsOf(manifests, gateway?.spec?.template?.spec ?? { containers: [] }))
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) expect(known).toMatch(new RegExp(`^\\| \`${name}\` `, 'm'))
    expect(names.filter((name) => /KEYS|TOKEN|PASSWORD|DATABASE_URL|RABBITMQ_URL|REDIS_URL/.test(name))).toEqual([])
  })

  test('has a certificate for the host in the URL of the bridge, at the paths of the settings', () => {
    const pod = (name: string) =>
      templateOf(services(manifests).find(({ metadata }) => metadata.name === name) as Manifest)?.spec as PodSpec
    const settings = settingsOf(manifests, pod('executor-bridge'))
    const { protocol, hostname } = new URL(settings['SLIPWAY_BRIDGE_URL'] ?? '')
    expect({ protocol, hostname }).toEqual({ protocol: 'https:', hostname: 'executor-bridge' })
    const made = ofKind(manifests, 'Certificate').filter(({ spec }) => spec?.secretName === 'slipway-bridge-tls')
    const byCertManager = ofKind(manifests, 'Issuer').length > 0
    expect(made.map(({ spec }) => spec?.dnsNames)).toEqual(byCertManager ? [['executor-bridge']] : [])
    const mounted = (name: string) =>
      (pod(name).volumes ?? []).flatMap(({ name: volume, secret }) => {
        const mount = pod(name).containers[0]?.volumeMounts?.find((each) => each.name === volume)
        return (secret?.items ?? []).map(({ path }) => `${mount?.mountPath}/${path}`)
      })
    expect(mounted('executor-bridge')).toEqual([
      settings['SLIPWAY_BRIDGE_TLS_CERT_FILE'],
      settings['SLIPWAY_BRIDGE_TLS_KEY_FILE'],
    ])
    // Commands of deployments run on the instance, so it must not have the key.
    expect(mounted('orchestration-instance')).toEqual([settings['SLIPWAY_BRIDGE_CA_FILE']])
  })

  test('runs as the user of the images', () => {
    const dockerfile = fs.readFileSync(path.join(repositoryRoot, 'deploy/Dockerfile'), 'utf8')
    const users = [...dockerfile.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)
    const ours = [...services(manifests), ...ofKind(manifests, 'Job', 'CronJob')].map((each) => templateOf(each)?.spec)
    const made = ours.map((pod) => `${pod?.securityContext?.runAsUser}:${pod?.securityContext?.runAsGroup}`)
    expect([...new Set(made)]).toEqual([...new Set(users)])
  })

  test('runs the version of this release', () => {
    const { version } = JSON.parse(fs.readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'))
    const images = workloads(manifests)
      .map((each) => templateOf(each)?.spec.containers[0]?.image ?? '')
      .filter((image) => /(^|\/)slipway\//.test(image))
    expect(images.length).toBeGreaterThan(6)
    expect(images.filter((image) => !image.endsWith(`:${version}`))).toEqual([])
  })

  test.each([
    ['/api/v1/sse/deployments', 'log-stream'],
    ['/api/v1/deployments/0190a0f0-0000-7000-8000-000000000000/logs', 'log-stream'],
    ['/api/v1/deployments/0190a0f0-0000-7000-8000-000000000000/logs/history', 'gateway'],
    ['/api/v1/deployments/0190a0f0-0000-7000-8000-000000000000', 'gateway'],
    ['/api/v1/deployments', 'gateway'],
    ['/api/v1/auth/sse-token', 'gateway'],
    ['/docs', 'gateway'],
    ['/', 'gateway'],
  ])('leads %s to %s', (url, service) => {
    const ingresses = ofKind(manifests, 'Ingress').filter(({ metadata }) => ['api', 'streams'].includes(metadata.name))
    // nginx treats all paths of such a host as patterns and tries the longest one first.
    const paths = ingresses
      .flatMap(({ spec }) => spec?.rules?.[0]?.http.paths ?? [])
      .sort((a, b) => b.path.length - a.path.length)
    if (name === 'minimal') return expect(paths).toEqual([])
    expect(paths.find(({ path }) => new RegExp(`^${path}`, 'i').test(url))?.backend.service.name).toBe(service)
    expect(new Set(ingresses.map(({ spec }) => spec?.rules?.[0]?.host)).size).toBe(1)
  })
})
