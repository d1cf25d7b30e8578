{{- define "pstrain.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "pstrain.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "pstrain.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "pstrain.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "pstrain.selectorLabels" -}}
app.kubernetes.io/name: {{ include "pstrain.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end -}}

{{- define "pstrain.labels" -}}
{{ include "pstrain.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: pstrain
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "pstrain.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "pstrain.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is needed when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "pstrain.image" -}}
{{- $name := .Values.image.repository -}}
{{- if .Values.image.registry -}}{{- $name = printf "%s/%s" .Values.image.registry $name -}}{{- end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $name .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "pstrain.trainingImage" -}}
{{- $name := printf "pstrain/runtime:%s" .Chart.AppVersion -}}
{{- if .Values.image.registry -}}{{- $name = printf "%s/%s" .Values.image.registry $name -}}{{- end -}}
{{- default $name .Values.trainingImage -}}
{{- end -}}

{{/* Families that a monitor does not store. */}}
{{- define "pstrain.dropped" -}}
{{- with . -}},
    metricRelabelings: [{sourceLabels: [__name__], action: drop, regex: {{ join "|" . | quote }}}]
{{- end -}}
{{- end -}}

{{/* Who may read the metrics of training pods: the operator itself, which asks chiefs for their
progress, and the scrapers. */}}
{{- define "pstrain.jobPeers" -}}
{{- $namespace := dict "matchLabels" (dict "kubernetes.io/metadata.name" .Release.Namespace) -}}
{{- $pods := dict "matchLabels" (include "pstrain.selectorLabels" . | fromYaml) -}}
{{- $operator := dict "namespaceSelector" $namespace "podSelector" $pods -}}
{{- prepend .Values.networkPolicy.scrapers $operator | toJson -}}
{{- end -}}

{{/* What the operator does with the objects of jobs, in each namespace that it manages. Every verb is
used; a test compares them with the audit log. */}}
{{- define "pstrain.jobRules" -}}
- apiGroups: [pstrain.dev]
  resources: [pstrainingjobs]
  # get: after a conflict. delete: ttlSecondsAfterFinished.
  verbs: [get, list, watch, delete]
- apiGroups: [pstrain.dev]
  resources: [pstrainingjobs/status]
  verbs: [patch]
- apiGroups: [pstrain.dev]
  # For ownerReferences with blockOwnerDeletion, where the cluster enforces that permission.
  resources: [pstrainingjobs/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [pods]
  # patch: the annotation by which a running chief learns the number of ps.
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [services]
  verbs: [get, list, watch, create]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, delete]
- apiGroups: [""]
  # Whether the claim of the checkpoints can be mounted on several nodes.
  resources: [persistentvolumeclaims]
  verbs: [get]
{{- if not .Values.watchNamespace }}
- apiGroups: [""]
  # Whether the node of a pod that does not go is there at all. Nodes have no namespace.
  resources: [nodes]
  verbs: [get]
{{- end }}
{{- if .Values.networkPolicy.jobs.enabled }}
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, list, watch, create, delete]
{{- end }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end -}}
