{{/* What differs between the services, besides values. The order of `secrets` is that of the variables. */}}
{{- define "slipway.services" -}}
gateway:
  port: { name: http, number: 8080 }
  redis: true
  jwt: true
planner: {}
dispatcher: {}
executor-bridge:
  port: { name: bridge, number: 8082 }
  redis: true
log-stream:
  port: { name: streams, number: 8081 }
  redis: true
{{- end }}

{{- define "slipway.serviceVariables" -}}
{{- $secrets := .root.Values.secrets -}}
- { name: NODE_OPTIONS, value: --max-old-space-size={{ .values.heapMiB }} }
{{ include "slipway.secretVariable" (list "DATABASE_URL" (print $secrets.databasePrefix .name) "uri") }}
{{ include "slipway.secretVariable" (list "RABBITMQ_URL" (print $secrets.rabbitmqPrefix .name) "uri") }}
{{- if .service.redis }}
{{ include "slipway.secretVariable" (list "REDIS_URL" (print $secrets.redisPrefix .name) "uri") }}
{{- end }}
{{ include "slipway.secretVariable" (list "SLIPWAY_ENCRYPTION_KEYS" $secrets.keys "encryption-keys") }}
{{- if .service.jwt }}
{{ include "slipway.secretVariable" (list "SLIPWAY_JWT_KEYS" $secrets.keys "jwt-keys") }}
- name: SLIPWAY_ADMIN_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $secrets.keys }}, key: admin-password, optional: true } }
{{- end }}
{{- if and $secrets.oidc (eq .name "gateway") }}
- { name: SLIPWAY_OIDC_FILE, value: /etc/slipway/oidc/oidc.yaml }
{{- if not (hasKey .root.Values.settings "SLIPWAY_PUBLIC_URL") }}
- { name: SLIPWAY_PUBLIC_URL, value: "https://{{ .root.Values.ingress.host }}" }
{{- end }}
{{- end }}
{{- if eq .name "executor-bridge" }}
# Instances join with the token of their own service account, which the bridge judges by the cluster's keys.
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- { name: SLIPWAY_KUBERNETES_SERVICE_ACCOUNTS, value: $(POD_NAMESPACE)/orchestration-instance }
- { name: SLIPWAY_KUBERNETES_KEYS_URL, value: "https://kubernetes.default.svc/openid/v1/jwks" }
- { name: SLIPWAY_KUBERNETES_CA_FILE, value: /var/run/slipway/cluster/ca.crt }
- { name: SLIPWAY_KUBERNETES_TOKEN_FILE, value: /var/run/slipway/cluster/token }
{{- end }}
{{- range $name, $value := .values.env }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}

{{- define "slipway.livenessProbe" -}}
httpGet: { path: /livez, port: management }
periodSeconds: 10
timeoutSeconds: 5
failureThreshold: 6
{{- end }}
