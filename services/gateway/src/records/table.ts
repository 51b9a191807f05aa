import type { Prisma, Records } from '@slipway/database'
import { pageInOrder, type RecordOrder, type Slice } from '../pages.ts'

type Model = Exclude<keyof Records, symbol | `$${string}`>

/** What Prisma reads with this `include` or `select`, and the columns that it takes. */
type Row<M extends Model, Shape> = Prisma.Result<Records[M], Shape, 'findFirstOrThrow'>
type New<M extends Model> = Prisma.Args<Records[M], 'create'>['data']
type Changed<M extends Model> = Prisma.Args<Records[M], 'update'>['data']

/** The rows of a kind of record. */
export interface Table<Row, New, Changed> {
  find(prisma: Records, where: object): Promise<Row | null>
  count(prisma: Records, where: object): Promise<number>
  page(prisma: Records, where: object, slice: Slice, order: RecordOrder<never>): Promise<Row[]>
  create(prisma: Records, data: New): Promise<Row>
  update(prisma: Records, id: string, data: Changed): Promise<Row>
  /** Returns whether there was such a row. */
  delete(prisma: Records, id: string): Promise<boolean>
}

interface Delegate<Row> {
  findFirst(args: object): Promise<Row | null>
  count(args: object): Promise<number>
  findMany(args: object): Promise<Row[]>
  create(args: object): Promise<Row>
  update(args: object): Promise<Row>
  deleteMany(args: object): Promise<{ count: number }>
}

/** The rows of a model of Prisma, each read with this `include` or `select`. */
export function tableOf<M extends Model, Shape extends object>(
  model: M,
  shape: Shape,
): Table<Row<M, Shape>, New<M>, Changed<M>> {
  // Prisma types each model apart. The compiler cannot see that all of them have these methods.
  const of = (prisma: Records) => prisma[model] as unknown as Delegate<Row<M, Shape>>
  return {
    find: (prisma, where) => of(prisma).findFirst({ where, ...shape }),
    count: (prisma, where) => of(prisma).count({ where }),
    page: (prisma, where, slice, order) => of(prisma).findMany({ ...pageInOrder(where, slice, order), ...shape }),
    create: (prisma, data) => of(prisma).create({ data, ...shape }),
    update: (prisma, id, data) => of(prisma).update({ where: { id }, data, ...shape }),
    delete: async (prisma, id) => (await of(prisma).deleteMany({ where: { id } })).count > 0,
  }
}
