import { createRootRoute, createRoute, createRouter, Link } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { ErrorAlert } from '../components/error-alert.tsx'
import { Empty, Page } from '../components/page.tsx'
import type { Search } from '../components/use-address.ts'
import { Now } from '../screens/now/now.tsx'
import { lazyScreen } from './lazy.tsx'
import { Shell } from './shell.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

const textOnly = (search: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(search)
      .filter(([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      .map(([name, value]) => [name, String(value)]),
  )

const screen = <N extends string>(path: string, load: () => Promise<Record<N, ComponentType>>, name: N) =>
  createRoute({ getParentRoute: () => root, path, validateSearch: textOnly, component: lazyScreen(load, name) })

const routes = [
  // The first screen comes with the frame: fewer requests.
  createRoute({ getParentRoute: () => root, path: '/', validateSearch: textOnly, component: Now }),
  screen('/deployments', () => import('../screens/deployments/deployments.tsx'), 'Deployments'),
  screen('/deployments/$id', () => import('../screens/deployment/deployment.tsx'), 'Deployment'),
  screen('/deploy', () => import('../screens/deploy/deploy.tsx'), 'Deploy'),
  screen('/queue', () => import('../screens/queue/queue.tsx'), 'Queue'),
  screen('/queue/$id', () => import('../screens/request/request.tsx'), 'Request'),
  screen('/targets', () => import('../screens/targets/targets.tsx'), 'Targets'),
  screen('/targets/$id', () => import('../screens/targets/target.tsx'), 'Target'),
  screen('/matrix', () => import('../screens/releases/matrix.tsx'), 'Matrix'),
  screen('/releases', () => import('../screens/releases/releases.tsx'), 'Releases'),
  screen('/sources', () => import('../screens/sources/sources.tsx'), 'Sources'),
  screen('/sources/$kind/$id', () => import('../screens/sources/source.tsx'), 'Source'),
  screen('/freezes', () => import('../screens/freezes/freezes.tsx'), 'Freezes'),
  screen('/environments', () => import('../screens/environments/environments.tsx'), 'Environments'),
  screen('/tenants', () => import('../screens/tenants/tenants.tsx'), 'Tenants'),
  screen('/instances', () => import('../screens/instances/instances.tsx'), 'Instances'),
  screen('/webhooks', () => import('../screens/webhooks/webhooks.tsx'), 'Webhooks'),
  screen('/audit', () => import('../screens/audit/audit.tsx'), 'Audit'),
  screen('/users', () => import('../screens/users/users.tsx'), 'Users'),
  screen('/users/$id', () => import('../screens/users/service-account.tsx'), 'ServiceAccount'),
  screen('/roles', () => import('../screens/roles/roles.tsx'), 'Roles'),
  screen('/login', () => import('./logged-in.tsx'), 'LoggedIn'),
  screen('/account', () => import('../screens/account/account.tsx'), 'Account'),
]

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: 'intent',
  defaultErrorComponent: ({ error }) => (
    <ErrorAlert error={error instanceof Error ? error : new Error(String(error))} />
  ),
  // Addresses are made of text: ?line=5 and not ?line="5".
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
    return text === '' ? '' : `?${text}`
  },
})

function NotFound() {
  return (
    <Page title="Nothing is here">
      <Empty title="This address leads nowhere">
        <Link to="/">Go to what is running now</Link>
      </Empty>
    </Page>
  )
}
