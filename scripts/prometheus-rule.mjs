// Writes the rules of deploy/grafana/alerts.yaml as the Prometheus operator reads them; kustomize cannot. With --check it only
// says whether they are the same.
import fs from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const file = path.join(root, 'deploy/kubernetes/components/monitoring/prometheus-rule.yaml')
const rules = fs.readFileSync(path.join(root, 'deploy/grafana/alerts.yaml'), 'utf8')
const indented = rules
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .map((line) => (line === '' ? line : `  ${line}`))
const text = `# Made from deploy/grafana/alerts.yaml by scripts/prometheus-rule.mjs: change that.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: slipway
  labels: { app.kubernetes.io/part-of: slipway }
spec:
${indented.join('\n')}`
if (!process.argv.includes('--check')) fs.writeFileSync(file, text)
else if (fs.readFileSync(file, 'utf8') !== text) {
  process.stderr.write(
    `${path.relative(root, file)} is not what deploy/grafana/alerts.yaml says: node scripts/prometheus-rule.mjs\n`,
  )
  process.exitCode = 1
}
