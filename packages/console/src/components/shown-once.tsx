import { Button, Code, CopyButton, Group, Modal, Stack, Text } from '@mantine/core'

interface Props {
  title: string
  /** What the secret is for, and that Slipway does not show it again. */
  explanation: string
  /** Several values are shown one a line, and copied like that. */
  values: readonly string[]
  /** Offers the values as a file of this name, too. */
  fileName?: string
  onClose: () => void
}

/** A secret that the API delivers once. A click beside the dialog does not close it. */
export function ShownOnce({ title, explanation, values, fileName, onClose }: Props) {
  const text = values.join('\n')
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeOnClickOutside={false} closeOnEscape={false}>
      <Stack>
        <Text size="sm" role="alert">
          <b>Copy it now.</b> {explanation}
        </Text>
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} data-testid="shown-once">
          {text}
        </Code>
        <Group justify="flex-end">
          {fileName && (
            <Button
              variant="default"
              component="a"
              download={fileName}
              href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
            >
              Save as a file
            </Button>
          )}
          <CopyButton value={text}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
          <Button onClick={onClose}>I have stored it</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
