import type { Dependencies } from '../dependencies.ts'
import { instanceGrantHandlers } from './instance-grants.ts'
import { instanceHandlers } from './instances.ts'
import { roleHandlers } from './roles.ts'
import { userHandlers } from './users.ts'

export const administrationHandlers = (dependencies: Dependencies) => ({
  ...userHandlers(dependencies),
  ...roleHandlers(dependencies),
  ...instanceHandlers(dependencies),
  ...instanceGrantHandlers(dependencies),
})
