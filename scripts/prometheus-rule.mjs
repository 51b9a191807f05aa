// Writes the rules of deploy/grafana/alerts.yaml as the Prometheus operator reads them; kustomize cannot:
//
//   node scripts/prometheus-rule.mjs                 into components/monitoring
//   node scripts/prometheus-rule.mjs --check         only says whether they are the same
//   node scripts/prometheus-rule.mjs --runbooks https://wiki.mine/slipway/operations --output FILE
//                                                    for an overlay of one's own, with links to another page
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, runbooks: { type: 'string' }, output: { type: 'string' } },
})
const root = path.resolve(import.meta.dirname, '..')
const own = path.join(root, 'deploy/kubernetes/components/monitoring/prometheus-rule.yaml')
const file = values.output ?? own

function fail(problem) {
  process.stderr.write(`prometheus-rule: ${problem}\n`)
  process.exit(1)
}

if (values.runbooks !== undefined && !values.output)
  fail('--runbooks needs --output: the file of the component stays as it is')
if (values.runbooks !== undefined && !/^https?:\/\/[^#\s]+$/.test(values.runbooks)) {
  fail(`--runbooks ${values.runbooks} is no address of a page, such as https://wiki.mine/slipway/operations`)
}
const rules = fs.readFileSync(path.join(root, 'deploy/grafana/alerts.yaml'), 'utf8')
const indented = rules
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .map((line) => (line === '' ? line : `  ${line}`))
  .map((line) => (values.runbooks ? line.replace(/(runbook_url: )[^#]+/, `$1${values.runbooks}`) : line))
const text = `# Made from deploy/grafana/alerts.yaml by scripts/prometheus-rule.mjs: change that.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: slipway
  labels: { app.kubernetes.io/part-of: slipway }
spec:
${indented.join('\n')}`
if (!values.check) fs.writeFileSync(file, text)
else if (fs.readFileSync(file, 'utf8') !== text) {
  fail(`${path.relative(root, file)} is not what deploy/grafana/alerts.yaml says: node scripts/prometheus-rule.mjs`)
}
