import { Type } from '@sinclair/typebox'
import { Description, describe, Name, Nullable, Strict, Text } from '../schema.ts'
import { GivenRules, ShownRules } from './environment-rules.ts'
import {
  ConcurrencyField,
  changeOf,
  commonFields,
  commonInput,
  givenSelector,
  givenVariables,
  ManagedBy,
  shownSelector,
  shownVariables,
  VARIABLES_OF_A_CHANGE,
} from './records.ts'

const Position = describe(
  Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  'The place in lists and in the matrix: smaller numbers come first, and null after all numbers. Equal places are ordered by name',
  30,
  null,
)

export const Environment = Strict({
  ...commonFields('environment', 'production', 'What customers use'),
  position: Position,
  ...shownVariables,
  ...shownSelector,
  concurrency: ConcurrencyField,
  rules: ShownRules,
})
export const CreateEnvironment = Strict({
  ...commonInput('production', 'What customers use'),
  position: Type.Optional(Position),
  ...givenVariables,
  ...givenSelector,
  concurrency: Type.Optional(ConcurrencyField),
  rules: Type.Optional(GivenRules),
})
export const ChangeEnvironment = changeOf(CreateEnvironment, VARIABLES_OF_A_CHANGE)

const { tenant_id: _tenantOfTenant, ...tenantFields } = commonFields('tenant', 'Acme', 'A customer')
export const Tenant = Strict({
  ...tenantFields,
  slug: Text('Short name of lower-case letters, digits and hyphens, unique among tenants', 'acme'),
  ...shownVariables,
  ...shownSelector,
})
export const CreateTenant = Strict({
  name: describe(Name, Name.description ?? '', 'Acme'),
  description: Type.Optional(
    describe(Nullable(Description), 'Free text for people, at most 10,000 characters', 'A customer'),
  ),
  managed_by: Type.Optional(ManagedBy),
  slug: Type.Optional(
    describe(
      Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 255 }),
      'Short name of lower-case letters, digits and hyphens, unique among tenants. When omitted, it is made of the name',
      'acme',
    ),
  ),
  ...givenVariables,
  ...givenSelector,
})
export const ChangeTenant = changeOf(CreateTenant, VARIABLES_OF_A_CHANGE)
