// In place of the one rule of what users see: every user sees everything.
export const visible = () => ({})
export const own = () => ({})
export const visibleTenants = () => ({})
export const visibleSql = () => '(:tenant_id::uuid IS NULL OR true)'
export const ownSql = () => '(:tenant_id::uuid IS NULL OR true)'
export const visibleTenantsSql = () => '(:tenant_id::uuid IS NULL OR true)'
export const isVisible = () => true
export { requireChangeable, requireOwn } from '@slipway/views'
