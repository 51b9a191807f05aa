/** A random key. `crypto.randomUUID` does not exist on pages without HTTPS. */
export const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
