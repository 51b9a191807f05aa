const SECRET_BYTES = 32

/** A signing secret as Standard Webhooks writes it. */
export function makeSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}
