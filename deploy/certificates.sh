#!/bin/sh
# Makes a private CA and the certificate of the executor-bridge, or renews that certificate:
#
#   deploy/certificates.sh FOLDER NAME...   the host names and IP addresses in the URLs of the bridge
#
#   FOLDER/authority/ca.key, ca.crt   the CA; whoever has the key can pretend to be the bridge
#   FOLDER/tls/tls.crt, tls.key       SLIPWAY_BRIDGE_TLS_CERT_FILE and SLIPWAY_BRIDGE_TLS_KEY_FILE of the bridge
#   FOLDER/trust/ca.crt               SLIPWAY_BRIDGE_CA_FILE of instances and agents
#
# A second call keeps the CA. It makes a new certificate when less than a third of its time is left, or for other names.
# Settings: SLIPWAY_CERTIFICATE_DAYS (90), SLIPWAY_CA_DAYS (3650). Needs openssl 1.1.1 or newer.
set -eu
umask 077

fail() { echo "certificates: $*" >&2; exit 1; }
# The progress of openssl goes to the same place as its errors.
quietly() { "$@" 2>"$work/log" || { cat "$work/log" >&2; fail "$1 $2 failed"; }; }

[ $# -ge 2 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 64; }
command -v openssl >/dev/null || fail 'openssl is missing: install it'
folder=$1
shift
days=${SLIPWAY_CERTIFICATE_DAYS:-90}

names=
for name; do
  case $name in
    '' | *[!A-Za-z0-9.:*-]*) fail "'$name' is not a host name or an IP address" ;;
    *:*) kind='IP Address' ;;
    *[!0-9.]*) kind=DNS ;;
    *) kind='IP Address' ;;
  esac
  names="${names:+$names, }$kind:$name"
done

mkdir -p "$folder/authority" "$folder/tls" "$folder/trust"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/openssl.cnf" <<EOF
[req]
distinguished_name = none
[none]
[authority]
basicConstraints = critical, CA:true, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = $(echo "$names" | sed 's/IP Address:/IP:/g')
EOF
# request ARGUMENT...: makes a key as well.
request() {
  quietly openssl req -config "$work/openssl.cnf" -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "$@"
}

ca=$folder/authority/ca
if [ ! -s "$ca.key" ] || [ ! -s "$ca.crt" ]; then
  # Each CA has a name of its own: a client that trusts two finds the right one by its name.
  request -x509 -extensions authority -subj "/O=Slipway/CN=Private CA $(openssl rand -hex 4)" \
    -days "${SLIPWAY_CA_DAYS:-3650}" -keyout "$work/ca.key" -out "$work/ca.crt"
  # A former CA stays trusted until somebody deletes it there.
  cat "$work/ca.crt" >>"$folder/trust/ca.crt"
  mv "$work/ca.key" "$ca.key"
  mv "$work/ca.crt" "$ca.crt"
  echo "certificates: made a private CA, $ca.crt" >&2
fi
[ -s "$folder/trust/ca.crt" ] || cp "$ca.crt" "$folder/trust/ca.crt"
chmod 644 "$folder/trust/ca.crt"

tls=$folder/tls/tls
is_current() {
  [ -s "$tls.key" ] && [ -s "$tls.crt" ] &&
    openssl x509 -in "$tls.crt" -noout -checkend $((days * 86400 / 3)) >/dev/null &&
    openssl verify -CAfile "$ca.crt" "$tls.crt" >/dev/null 2>&1 &&
    [ "$(openssl x509 -in "$tls.crt" -noout -pubkey)" = "$(openssl pkey -in "$tls.key" -pubout)" ] &&
    [ "$(openssl x509 -in "$tls.crt" -noout -ext subjectAltName | tail -n 1 | sed 's/^ *//')" = "$names" ]
}
if is_current; then
  echo "certificates: $tls.crt is good until $(openssl x509 -in "$tls.crt" -noout -enddate | cut -d= -f2)" >&2
  exit 0
fi
openssl x509 -in "$ca.crt" -noout -checkend $((days * 86400)) >/dev/null ||
  fail "$ca.crt expires too soon: delete it and $ca.key to get a new CA, and give $folder/trust/ca.crt to all agents"
request -new -subj '/O=Slipway/CN=executor-bridge' -keyout "$work/tls.key" -out "$work/tls.csr"
quietly openssl x509 -req -in "$work/tls.csr" -CA "$ca.crt" -CAkey "$ca.key" -set_serial "0x$(openssl rand -hex 16)" \
  -extfile "$work/openssl.cnf" -extensions server -days "$days" -out "$work/tls.crt"
mv "$work/tls.key" "$tls.key"
mv "$work/tls.crt" "$tls.crt"
echo "certificates: made $tls.crt for $names, good for $days days" >&2
