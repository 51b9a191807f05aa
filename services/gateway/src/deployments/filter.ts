import type { IdKind } from '@slipway/contracts'
import { recordKey } from '../catalog/record-id.ts'
import { ownSql, type Viewer } from '../tenancy/visibility.ts'

/** Conditions of a WHERE and their parameters, gathered one by one. The first is always what the viewer may see. */
export class Filter {
  readonly #conditions: string[]
  readonly parameters: unknown[]

  constructor(viewer: Viewer, alias: string) {
    this.parameters = [viewer.tenant_id]
    this.#conditions = [ownSql(alias, '$1')]
  }

  /** Adds a condition; `sql` gets the placeholder of the value. An absent value is no condition. */
  add(value: unknown, sql: (placeholder: string) => string): this {
    if (value === undefined) return this
    this.#conditions.push(sql(this.parameter(value)))
    return this
  }

  /** Adds a condition without a value. */
  where(condition: string): this {
    this.#conditions.push(condition)
    return this
  }

  /** A column must hold the id of this record, given as a UUID or a SqId. */
  addRecord(kind: IdKind & ('tenant' | 'environment'), column: string, id: string | undefined): this {
    if (id === undefined) return this
    const key = recordKey(kind, id)
    if (key === null) this.#conditions.push('false')
    else if ('id' in key) this.add(key.id, (id) => `${column} = ${id}::uuid`)
    else this.add(key.number, (number) => `${column} = (SELECT id FROM ${kind}s WHERE number = ${number})`)
    return this
  }

  /** The placeholder of one more parameter. */
  parameter(value: unknown): string {
    this.parameters.push(value)
    return `$${this.parameters.length}`
  }

  get sql(): string {
    return this.#conditions.join(' AND ')
  }
}
