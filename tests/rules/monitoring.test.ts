import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { parser } from '@prometheus-io/lezer-promql'
import { repositoryFiles, repositoryRoot } from '@slipway/testing'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { parse } from 'yaml'

interface Rules {
  groups: {
    rules: { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> }[]
  }[]
}

interface Dashboard {
  uid: string
  title: string
  templating: { list: { name: string }[] }
  panels: {
    id: number
    type: string
    targets?: { expr: string; datasource: { uid: string } }[]
    gridPos: { x: number; w: number }
  }[]
}

/** `counter(…, 'slipway_…_total'`, `histogram(…, 'slipway_…_seconds'` and the keys of `measure`. */
const DECLARED =
  /(?:'(slipway_[a-z0-9_]+_(?:total|seconds|info))'|^\s*(?:\{ |measure\('\w+', \{ )?(slipway_[a-z0-9_]+): \{)/gm

const declaredIn = (...patterns: string[]) =>
  repositoryFiles(...patterns).flatMap((file) =>
    [...fs.readFileSync(path.join(repositoryRoot, file), 'utf8').matchAll(DECLARED)].map(
      ([, one, other]) => one ?? other ?? '',
    ),
  )

/** The metrics that the library adds to every process. */
const OF_THE_PROCESS = (() => {
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register.getMetricsAsArray().map(({ name }) => name)
})()

/** Parses a query with the grammar of Prometheus. Grafana replaces `$__rate_interval` by a duration. */
function isPromQl(query: string): boolean {
  let isGood = true
  parser.parse(query.replaceAll('$__rate_interval', '5m')).iterate({
    enter: ({ type }) => {
      if (type.isError) isGood = false
    },
  })
  return isGood
}

describe('dashboards and alerts', () => {
  const grafana = path.join(repositoryRoot, 'deploy/grafana')
  const rules = (parse(fs.readFileSync(path.join(grafana, 'alerts.yaml'), 'utf8')) as Rules).groups.flatMap(
    (group) => group.rules,
  )
  const dashboards = fs.readdirSync(path.join(grafana, 'dashboards')).map((name) => ({
    name,
    text: fs.readFileSync(path.join(grafana, 'dashboards', name), 'utf8'),
  }))

  test('name only existing metrics, and every metric is in a dashboard or an alert', () => {
    const exist = new Set([...declaredIn('packages/*/src/*.ts', 'services/*/src/*.ts'), ...OF_THE_PROCESS])
    const used = [...dashboards.map(({ text }) => text), ...rules.map(({ expr }) => expr)].flatMap((text) => [
      ...text.matchAll(/\b(?:slipway|process|nodejs)_[a-z0-9_]+/g),
    ])
    expect(used.length).toBeGreaterThan(60)
    expect(exist.size).toBeGreaterThan(60)
    const unknown = used.filter(([name]) => !exist.has(name) && !exist.has(name.replace(/_(bucket|count|sum)$/, '')))
    expect(unknown.map(([name]) => name)).toEqual([])
    // No metric may be missing in all dashboards and alerts.
    const shown = new Set(used.map(([name]) => name.replace(/_(bucket|count|sum)$/, '')))
    const ours = [...exist].filter((name) => name.startsWith('slipway_'))
    expect(ours.filter((name) => !shown.has(name))).toEqual([])
  })

  test('have only queries that Prometheus can parse', () => {
    const panels = dashboards.flatMap(({ text }) => (JSON.parse(text) as Dashboard).panels)
    const queries = [...rules, ...panels.flatMap(({ targets = [] }) => targets)].map(({ expr }) => expr)
    expect(queries.filter((query) => !isPromQl(query))).toEqual([])
    expect(isPromQl('sum(rate(slipway_messages_total[5m])')).toBe(false)
  })

  test('dashboards are complete: every panel has queries of the chosen Prometheus and fits into the grid', () => {
    expect(dashboards.length).toBeGreaterThan(0)
    for (const { text } of dashboards) {
      const { uid, title, panels, templating } = JSON.parse(text) as Dashboard
      expect(uid).toMatch(/^slipway-/)
      expect(title).toMatch(/^Slipway: /)
      const variables = templating.list.map(({ name }) => name)
      expect(variables).toEqual(['datasource', 'namespace', ...(uid === 'slipway-deployments' ? ['pool'] : [])])
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
      for (const { type, targets = [], gridPos } of panels) {
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
        if (type === 'row') continue
        expect(targets.length).toBeGreaterThan(0)
        for (const { expr, datasource } of targets) {
          expect(expr).not.toBe('')
          // Outside of Kubernetes the label is missing, and the choice "All" (`.*`) matches that too.
          const selectors = [...expr.matchAll(/\b(slipway|nodejs|process)_\w+(\{[^}]*\})?/g)].map(
            ([, , labels]) => labels,
          )
          expect(selectors.length).toBeGreaterThan(0)
          for (const labels of selectors) expect(labels).toContain('namespace=~"$namespace"')
          if (/slipway_(pending_requests|pool_slots_taken)\{/.test(expr)) expect(expr).toContain('pool=~"$pool"')
          expect(datasource.uid).toMatch(/^\$\{datasource\}$/)
        }
      }
    }
  })

  test('every alert has a severity and an entry in the runbook, and every entry has an alert', () => {
    const page = fs.readFileSync(path.join(repositoryRoot, 'docs/operations.md'), 'utf8')
    const entries = [...page.matchAll(/^### (Slipway\w+)\n\n[^#]+- \*\*Look:\*\* [^#]+- \*\*Do:\*\* /gm)].map(
      ([, name]) => name,
    )
    expect(rules.map(({ alert }) => alert)).toEqual(entries)
    for (const { alert, expr, labels, annotations } of rules) {
      expect(expr.trim()).not.toBe('')
      expect(['critical', 'warning']).toContain(labels.severity)
      expect(annotations).toEqual({
        summary: expect.any(String),
        // The address of the page is a setting (monitoring.runbooks of the chart). The anchor is that of the entry.
        runbook_url: `https://slipway.example.com/docs/operations#${alert.toLowerCase()}`,
      })
    }
  })
})
