#!/bin/bash
# The health command of the images: asks the service in this container whether it is ready, and shows what it says when not.
# Without Node, whose start costs more than the answer.
exec 3<>"/dev/tcp/127.0.0.1/${SLIPWAY_MANAGEMENT_PORT:-8090}" || exit 1
printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3
read -r _ status _ <&3
if [ "$status" = 200 ]; then exit 0; fi
sed '1,/^\r$/d' <&3
exit 1
