/** What to do about a connection that failed, by the code of the network error. */
export function adviseConnection(url: string, reason: string): string {
  const { protocol, hostname, host, port } = new URL(url)
  const other = `${protocol === 'https:' ? 'http' : 'https'}://${host}`
  const place = port === '' ? `${host} at port ${protocol === 'https:' ? 443 : 80}` : host
  if (protocol === 'https:' && /WRONG_VERSION_NUMBER|^EPROTO$|PACKET_LENGTH_TOO_LONG/.test(reason))
    return `it does not speak TLS: is it http, not https? Then its address is ${other}`
  if (protocol === 'http:' && /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$|^HPE_/.test(reason))
    return `it does not answer in HTTP: is it https, not http? Then its address is ${other}`
  switch (reason) {
    case 'ENOTFOUND':
      return `there is no host ${hostname}: check the name`
    case 'EAI_AGAIN':
      return `the name ${hostname} cannot be looked up now: check the network and its DNS`
    case 'ECONNREFUSED':
      return `nothing listens there on ${place}: check that Slipway runs, and the port${port === '' ? ': without one, the address means this port' : ''}`
    case 'timeout':
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'no answer came in time: check the address, and firewalls in between'
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `no network leads to ${hostname}: check the network, and a VPN if it needs one`
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired: the operator of the server renews it'
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `its certificate is for another name than ${hostname}: use the name in the certificate`
    default:
      return 'check that it runs and that the address is right'
  }
}
