import { afterAll, beforeAll } from 'vitest'
import {
  openConformanceDatabase,
  type ConformanceDatabase,
} from '../../../test/postgres/conformance-database.ts'
import { INSTANCE, NOW } from '../conformance/suite.ts'
import { openStorage } from '../open.ts'
import { describeStorage } from '../storage.conformance.ts'

let shared: ConformanceDatabase
beforeAll(async () => {
  shared = await openConformanceDatabase()
})
afterAll(() => shared.close())

describeStorage('PostgreSQL', async (state) => {
  await shared.bringTo(state)
  return {
    open: ({ instanceId = INSTANCE, secretKeyByte = 1, now = NOW } = {}) =>
      openStorage({
        databaseUrl: shared.url,
        dataDir: '/nonexistent',
        secretKey: new Uint8Array(32).fill(secretKeyByte),
        instanceId,
        now: () => now,
        log: { warn: () => {} },
      }),
    execute: async (sql) => void (await shared.query(sql)),
    dump: () => shared.dump(),
    remove: () => Promise.resolve(),
  }
})
