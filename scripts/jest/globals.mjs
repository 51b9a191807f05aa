// What a test imports as `@jest/globals`. A module is loaded once a worker, `test` and the others are new with each file.
const globalOf = (name) => {
  const now = () => globalThis[Symbol.for('slipway.jest.globals')][name]
  return new Proxy(() => {}, {
    apply: (_, self, args) => Reflect.apply(now(), self, args),
    get: (_, key) => now()[key],
  })
}

export const afterAll = globalOf('afterAll')
export const afterEach = globalOf('afterEach')
export const beforeAll = globalOf('beforeAll')
export const beforeEach = globalOf('beforeEach')
export const describe = globalOf('describe')
export const expect = globalOf('expect')
export const jest = globalOf('jest')
export const test = globalOf('test')
