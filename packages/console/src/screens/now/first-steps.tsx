import { Alert, Anchor, List } from '@mantine/core'
import { Link } from '@tanstack/react-router'

/** The way from an empty installation to a first deployment. */
export function FirstSteps() {
  return (
    <Alert title="Your first deployment" color="blue">
      <List type="ordered" size="sm">
        <List.Item>
          <Anchor component={Link} to="/targets" size="sm">
            Create a target
          </Anchor>
          : a machine that Slipway reaches, over ssh for example.
        </List.Item>
        <List.Item>
          <Anchor component={Link} to="/sources" size="sm">
            Create an action
          </Anchor>
          : a script that runs there.
        </List.Item>
        <List.Item>
          <Anchor component={Link} to="/deploy" size="sm">
            Deploy it
          </Anchor>
          , and watch its output.
        </List.Item>
      </List>
    </Alert>
  )
}
