/** Texts that only search in a list: a choice is in a hidden input beside it. */
const SEARCH = '[role=combobox]'

/** What the inputs of a form hold, to compare it with what they held before. */
export function entriesOf(form: HTMLFormElement | null): string {
  const inputs = [...(form?.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea') ?? [])]
  return JSON.stringify(inputs.filter((input) => !input.matches(SEARCH)).map(entryOf))
}

const entryOf = (input: HTMLInputElement | HTMLTextAreaElement) =>
  input instanceof HTMLInputElement && ['checkbox', 'radio'].includes(input.type) ? input.checked : input.value
