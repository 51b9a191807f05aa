{{- define "slipway.labels" -}}
app.kubernetes.io/part-of: slipway
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "slipway.image" -}}
{{ .root.Values.images.prefix }}{{ .name }}:{{ .root.Values.images.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* What selects the pods of one service. The labels of the chart stay out: a selector cannot be changed on an upgrade. */}}
{{- define "slipway.selector" -}}
app.kubernetes.io/name: {{ . }}
app.kubernetes.io/part-of: slipway
{{- end }}

{{/* Names of the StatefulSets of instances, as JSON. */}}
{{- define "slipway.instances" -}}
{{- $names := list "orchestration-instance" -}}
{{- range .Values.instances.pools }}{{ $names = append $names (printf "orchestration-instance-%s" .name) }}{{ end -}}
{{- toJson $names -}}
{{- end }}

{{/* A selector of pods by their names: a single one as a label, several as an expression. */}}
{{- define "slipway.pods" -}}
{{- if eq (len .) 1 -}}
matchLabels: { app.kubernetes.io/name: {{ first . }} }
{{- else -}}
matchExpressions: [{ key: app.kubernetes.io/name, operator: In, values: {{ toJson . }} }]
{{- end -}}
{{- end }}

{{- define "slipway.inNamespace" -}}
namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: {{ . }} } }
{{- end }}

{{- define "slipway.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "slipway.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* The start of every pod. `pod` has the placement of one service, which replaces that of all. */}}
{{- define "slipway.pod" -}}
{{- $all := .root.Values.pods -}}
{{- $pod := .pod | default dict -}}
serviceAccountName: {{ .account }}
automountServiceAccountToken: false
# Else a Service would become variables such as SLIPWAY_PORT in every pod.
enableServiceLinks: false
securityContext:
  {{- include "slipway.podSecurity" . | nindent 2 }}
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $pod.nodeSelector | default $all.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with $pod.tolerations | default $all.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with $all.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "slipway.spread" -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "slipway.selector" $ | nindent 6 }}
{{- end }}
{{- end }}

{{- define "slipway.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels:
    app.kubernetes.io/name: {{ .name }}
    {{- include "slipway.labels" .root | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "slipway.selector" .name | nindent 6 }}
{{- end }}

{{- define "slipway.secretVariable" -}}
- name: {{ index . 0 }}
  valueFrom: { secretKeyRef: { name: {{ index . 1 }}, key: {{ index . 2 }} } }
{{- end }}

{{- define "slipway.ownerAddress" -}}
{{- if .Values.postgres.operator -}}
{{ include "slipway.secretVariable" (list "DATABASE_URL" "postgres-app" "uri") }}
{{- else -}}
{{ include "slipway.secretVariable" (list "DATABASE_URL" .Values.secrets.servers "database-url") }}
{{- end -}}
{{- end }}

{{/* The settings of all services; the labels that instances may claim follow from the pools. */}}
{{- define "slipway.settings" -}}
{{- $settings := dict -}}
{{- range $name, $value := .Values.settings }}{{ if not (kindIs "invalid" $value) }}{{ $_ := set $settings $name (toString $value) }}{{ end }}{{ end -}}
{{- $labels := list -}}
{{- with .Values.instances.labels }}{{ $labels = concat $labels (splitList "," .) }}{{ end -}}
{{- range .Values.instances.pools }}{{ $labels = concat $labels (splitList "," .labels) }}{{ end -}}
{{- if and $labels (not (hasKey $settings "SLIPWAY_KUBERNETES_LABELS")) -}}
{{- $_ := set $settings "SLIPWAY_KUBERNETES_LABELS" (join "," (uniq $labels)) -}}
{{- end -}}
{{- toYaml $settings -}}
{{- end }}

{{/* Jobs before the services. As a hook they end before Helm changes anything else. On the first installation the server that they
     need may be part of the same release, by its operator: then they are plain, and services wait. */}}
{{- define "slipway.jobAnnotations" -}}
{{- if and .root.Release.IsInstall .brings -}}
argocd.argoproj.io/hook: Sync
argocd.argoproj.io/hook-delete-policy: BeforeHookCreation
{{- else -}}
helm.sh/hook: {{ ternary "pre-upgrade" "pre-install,pre-upgrade" .brings }}
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation
{{- end -}}
{{- end }}

{{/* A rule for a server that is elsewhere. */}}
{{- define "slipway.peers" -}}
{{- $ports := list -}}
{{- range .ports }}{{ $ports = append $ports (dict "port" .) }}{{ end -}}
{{- dict "to" .to "ports" $ports | toJson -}}
{{- end }}
