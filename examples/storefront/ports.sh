#!/bin/sh
# ports.sh DIRECTORY: prints a port, N; target 1 answers on N+1 and so on. While a storefront below DIRECTORY runs, its ports
# stay; else three free ones are chosen. The search begins at a place that depends on DIRECTORY, so that two clones which search
# at the same time do not meet.
set -eu

directory=${1:?usage: ports.sh DIRECTORY}
kept=$directory/artifacts/first-port
running=
for pid_file in "$directory"/*/app.pid; do
  [ ! -f "$pid_file" ] || ! kill -0 "$(cat "$pid_file")" 2>/dev/null || running=yes
done

if [ -z "$running" ] || [ ! -s "$kept" ]; then
  sum=$(printf '%s' "$directory" | cksum)
  mkdir -p "$directory/artifacts"
  node -e '
    const net = require("node:net")
    const isFree = (port) =>
      new Promise((resolve) => {
        const server = net.createServer().on("error", () => resolve(false))
        server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
      })
    const search = async (start) => {
      for (let tries = 0; tries < 100; tries += 1) {
        const first = 18080 + ((start + tries) % 100) * 10
        if ((await Promise.all([1, 2, 3].map((number) => isFree(first + number)))).every(Boolean)) return first
      }
      throw new Error("no three free ports between 18081 and 19080")
    }
    search(Number(process.argv[1])).then(console.log)
  ' "${sum%% *}" >"$kept"
fi

first=$(cat "$kept")
for number in 1 2 3; do
  echo "storefront-$number: http://127.0.0.1:$((first + number))/" >&2
done
echo "$first"
