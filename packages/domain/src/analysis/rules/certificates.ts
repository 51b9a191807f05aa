import { type Rule, rulesOf } from '../rule.ts'

export const CERTIFICATES: readonly Rule[] = rulesOf('certificates', [
  {
    id: 'certificate-expired',
    hints: [
      'certificate has expired',
      'cert_has_expired',
      'certificate is expired',
      'certificate expired',
      'has expired or is not yet valid',
    ],
    pattern: /certificate (?:has|is) expired|\bCERT_HAS_EXPIRED\b|certificate expired|has expired or is not yet valid/i,
    confidence: 0.97,
    title: 'A certificate has expired',
    cause: 'The certificate of the server is no longer valid, or the clock of this machine is wrong.',
    remediation: [
      'Renew it on the server; compare `date` on both: `openssl s_client -connect HOST:443 | openssl x509 -noout -dates`',
    ],
  },
  {
    id: 'certificate-untrusted',
    hints: [
      'self-signed',
      'self signed',
      'unable to get local issuer',
      'unknown authority',
      'unable to verify',
      'certificate verify failed',
      'certificate verification failed',
      'unable_to_verify',
    ],
    pattern:
      /self[- ]signed certificate|unable to get (?:local )?issuer|unknown authority|unable to verify the first|certificate verif(?:y|ication) failed|UNABLE_TO_VERIFY|SELF_SIGNED_CERT/i,
    confidence: 0.93,
    title: 'A certificate is not trusted',
    cause:
      'It is self-signed or signed by a CA that this machine does not trust, or the server does not send the whole chain.',
    remediation: [
      'Add the CA: `update-ca-certificates`, NODE_EXTRA_CA_CERTS, REQUESTS_CA_BUNDLE or `--cacert`',
      'Do not switch the check off; let the server send its whole chain',
    ],
  },
  {
    id: 'certificate-name',
    hints: [
      'no alternative certificate subject name',
      'does not match target host',
      'hostname/ip does not match',
      'altname',
      'hostname mismatch',
      'certificate is valid for',
      'not match host',
    ],
    pattern:
      /no alternative certificate subject name|does not match target host|Hostname\/IP does not match|ERR_TLS_CERT_ALTNAME_INVALID|hostname mismatch|certificate is valid for|not match (?:requested )?host/i,
    confidence: 0.95,
    title: 'A certificate is for another host name',
    cause: 'The certificate does not contain the name (or address) that the client used.',
    remediation: ['Use the name in the certificate, or renew the certificate with the right name'],
  },
  {
    id: 'tls-handshake',
    hints: ['ssl', 'tls', 'gnutls'],
    pattern:
      /wrong version number|handshake failure|ssl_error_syscall|unsupported protocol|tlsv1 alert|sslv3 alert|gnutls_handshake\(\) failed|no protocols available|tls: first record does not look like/i,
    confidence: 0.9,
    title: 'The TLS handshake failed',
    cause:
      'The port does not use TLS (https to an http port), or client and server have no TLS version or cipher in common.',
    remediation: ['Check scheme and port; try `openssl s_client -connect HOST:PORT`'],
  },
])
