#!/bin/sh
# Brings an overlay to the cluster of kubectl's current context, in order: what everything needs, then certificates and the
# schema of the database, then the services. Stops where something does not work. Run it again at any time.
#
#   deploy/kubernetes/rollout.sh production              an overlay of this folder
#   deploy/kubernetes/rollout.sh path/to/my/overlay      one's own
#   deploy/kubernetes/rollout.sh production --dry-run    says what would change, and changes nothing
set -eu

here=$(cd "$(dirname "$0")" && pwd)
overlay=${1:?which overlay? $(cd "$here/overlays" && echo *)}
[ -d "$overlay" ] || overlay=$here/overlays/$overlay
limit=${SLIPWAY_ROLLOUT_SECONDS:-900}

rendered=$(mktemp)
trap 'rm -f "$rendered"' EXIT
kubectl kustomize "$overlay" >"$rendered"
namespace=$(sed -n '/^kind: Namespace$/,/^---$/s/^  name: //p' "$rendered")

if [ "${2:-}" = --dry-run ]; then
  # It ends with 1 where something would change.
  kubectl diff -f "$rendered" || [ $? = 1 ]
  exit
fi

kubectl apply -f "$rendered" --selector '!slipway.dev/stage'

# A job cannot be changed: those of the release before make room.
kubectl -n "$namespace" delete job certificates broker-users migrate --ignore-not-found
kubectl apply -f "$rendered" --selector 'slipway.dev/stage in (certificates, migration)'
end=$(($(date +%s) + limit))

# wait_for JOB: ends the rollout if it does not complete.
wait_for() {
  while :; do
    state=$(kubectl -n "$namespace" get job "$1" -o 'jsonpath={.status.conditions[?(@.status=="True")].type}')
    case $state in
      *Complete*) return ;;
      *Failed*) problem='failed' ;;
      *) [ "$(date +%s)" -lt "$end" ] && { sleep 2; continue; }; problem="did not end within $limit s" ;;
    esac
    kubectl -n "$namespace" logs "job/$1" --tail 50 >&2 || true
    echo "rollout: the job $1 $problem; the services were left as they are" >&2
    exit 1
  done
}
# With cert-manager there is no job for certificates.
if grep -q '^    slipway.dev/stage: certificates$' "$rendered"; then wait_for certificates; fi
wait_for migrate
# RabbitMQ elsewhere has its users from somebody else.
if grep -q '^  name: broker-users$' "$rendered"; then wait_for broker-users; fi

kubectl apply -f "$rendered" --selector slipway.dev/stage=services
for service in gateway planner dispatcher executor-bridge log-stream; do
  kubectl -n "$namespace" rollout status "deployment/$service" --timeout "${limit}s"
done
