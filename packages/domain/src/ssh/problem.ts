/** Why a key cannot be used. The message follows the name of the field and never quotes the key. */
export class KeyProblem extends Error {
  override name = 'KeyProblem'
}

export const needsNoPassphrase = () =>
  new KeyProblem(
    'is protected by a passphrase, which nobody could type during a deployment: give a key without one (a copy whose ' +
      'passphrase "ssh-keygen -p -N \'\' -f COPY" has removed)',
  )
