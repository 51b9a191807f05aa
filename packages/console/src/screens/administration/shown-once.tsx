import { Button, Code, CopyButton, Group, Modal, Stack, Text } from '@mantine/core'

interface Props {
  title: string
  /** What the secret is for, and that Slipway does not show it again. */
  explanation: string
  /** Several values are shown one a line, and copied like that. */
  values: readonly string[]
  onClose: () => void
}

/** A secret that the API delivers once. A click beside the dialog does not close it. */
export function ShownOnce({ title, explanation, values, onClose }: Props) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm" role="alert">
          <b>Copy it now.</b> {explanation}
        </Text>
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} data-testid="shown-once">
          {values.join('\n')}
        </Code>
        <Group justify="flex-end">
          <CopyButton value={values.join('\n')}>
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
