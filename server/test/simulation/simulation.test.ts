/**
 * Random operations against the naive model: over the decisions alone, and on both engines. SLUICE_SIMULATION_OPERATIONS
 * sets how many each runs, SLUICE_SIMULATION_SEED repeats a failure.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPostgres } from '../../src/storage/postgres/engine.ts'
import { openSqlite } from '../../src/storage/sqlite/engine.ts'
import { createFreshDatabase } from '../postgres/fresh-database.ts'
import { EngineStore } from './engine-store.ts'
import { PureStore } from './pure-store.ts'
import { Simulation } from './simulation.ts'

const ASKED = process.env['SLUICE_SIMULATION_OPERATIONS']
const SEED = Number(process.env['SLUICE_SIMULATION_SEED'] ?? 20260101)
/** A world is thrown away after this many operations, so that late states are not all alike. */
const OPERATIONS_PER_WORLD = 2_000
const FOREVER = { timeout: 24 * 3_600_000 }

const now = () => 0
const log = { warn: () => undefined }

test(
  '[D-money-14] the decisions: every balance, window and slot is at each step as the model has it',
  FOREVER,
  () => simulate(8_000, (world) => world(new PureStore())),
)

test('[D-money-14] SQLite: the same, with another process changing accounts and keys', FOREVER, () =>
  simulate(1_500, async (world) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-simulation-'))
    const store = await EngineStore.open({ dataDir, databaseUrl: undefined }, () =>
      openSqlite({ path: join(dataDir, 'sluice.db'), now, log }),
    )
    try {
      await world(store)
      expect(await store.verify()).toEqual([])
    } finally {
      await store.close()
      rmSync(dataDir, { recursive: true })
    }
  }),
)

test('[D-money-14] PostgreSQL: the same, with another instance changing accounts and keys', FOREVER, () =>
  simulate(800, async (world) => {
    const database = await createFreshDatabase()
    const store = await EngineStore.open({ dataDir: '/nonexistent', databaseUrl: database.url }, () =>
      openPostgres({ databaseUrl: database.url, now, log }),
    )
    try {
      await world(store)
      expect(await store.verify()).toEqual([])
    } finally {
      await store.close()
      await database.drop()
    }
  }),
)

/** `inWorld` makes a store, lets the world run on it and takes it away again. */
async function simulate(
  usual: number,
  inWorld: (world: (store: ConstructorParameters<typeof Simulation>[1]) => Promise<void>) => Promise<void>,
): Promise<void> {
  const operations = ASKED === undefined ? usual : Number(ASKED)
  for (let done = 0, seed = SEED; done < operations; done += OPERATIONS_PER_WORLD, seed++) {
    const count = Math.min(operations - done, OPERATIONS_PER_WORLD)
    try {
      await inWorld((store) => new Simulation(seed, store).run(count))
    } catch (error) {
      const again = `SLUICE_SIMULATION_SEED=${seed} SLUICE_SIMULATION_OPERATIONS=${count}`
      throw new Error(`the simulation failed, repeat it with ${again}`, { cause: error })
    }
  }
}
