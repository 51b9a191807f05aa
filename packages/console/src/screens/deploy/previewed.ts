import type { Answer, Schema } from '@slipway/client'

/** A request and what the server would do for it. */
export interface Previewed {
  request: Schema<'CreateDeployment'>
  plan: Answer<'previewDeployment'>
  command: string
}
