# Asks /health until the new version answers that it is well, or the time is over.
set -eu

root=$SLIPWAY_VAR_BASE_DIRECTORY/$SLIPWAY_VAR_DIRECTORY
url=http://127.0.0.1:$((SLIPWAY_VAR_FIRST_PORT + SLIPWAY_VAR_NUMBER))/health
version=$SLIPWAY_VAR_VERSION

# Prints the body and, on a line of its own, the status; fails when nobody answers.
ask() {
  if command -v curl >/dev/null; then
    curl --silent --show-error --noproxy '*' --max-time 2 --write-out '\n%{http_code}' "$url" 2>&1
  else
    node -e 'fetch(process.argv[1], { signal: AbortSignal.timeout(2000) })
      .then(async (answer) => console.log(`${await answer.text()}\n${answer.status}`))
      .catch((error) => { console.log((error.cause ?? error).message); process.exitCode = 1 })' "$url"
  fi
}

end=$(($(date +%s) + SLIPWAY_VAR_HEALTH_SECONDS))
while :; do
  if answer=$(ask); then
    status=$(printf '%s\n' "$answer" | tail -n 1)
    body=$(printf '%s\n' "$answer" | sed '$d' | tr -d '\n')
    case "$status $body" in
      200*"\"version\":\"$version\""*)
        echo "$url is well: $body"
        exit 0
        ;;
    esac
    last="status $status, $body"
  else
    last=$(printf '%s' "$answer" | tr '\n' ' ')
  fi
  [ "$(date +%s)" -lt "$end" ] || break
  sleep 0.5
done

{
  echo "storefront $version is not well after $SLIPWAY_VAR_HEALTH_SECONDS s; $url last said: $last"
  [ ! -f "$root/app.log" ] || tail -n 5 "$root/app.log"
} >&2
exit 1
