// Replaces the visibility rules: every user sees all records.
export const visible = () => ({})
export const own = () => ({})
export const visibleTenants = () => ({})
export const visibleSql = () => '(:tenant_id::uuid IS NULL OR true)'
export const ownSql = () => '(:tenant_id::uuid IS NULL OR true)'
export const visibleTenantsSql = () => '(:tenant_id::uuid IS NULL OR true)'
export const isVisible = () => true
export { requireChangeable, requireOwn } from '@slipway/database/read-models'
