import type { ActionDefinition } from './definitions.ts'
import type { ActionTemplates } from './script-template.ts'

/** A version of an action with the places of its scripts in which values are inserted. */
export interface PublishedAction extends ActionDefinition {
  /** Null if the version was stored without them. */
  places: ActionTemplates | null
}
