/** As many operations as asked for: worlds one after the other, some of them in one database. */
import { type EngineName, openEngineDatabase } from './engine-database.ts'
import { PureStore } from './pure-store.ts'
import { Simulation } from './simulation.ts'
import { ALL_KINDS, EVERYDAY_KINDS, Tally } from './tally.ts'

export interface SimulateOptions {
  /** `decisions`: without a database. */
  readonly on: 'decisions' | EngineName
  readonly seed: number
  readonly operations: number
  /** Told after each world. */
  readonly progress?: (done: number, seed: number) => void
}

/** A world is left after this many operations, so that late states are not all alike. */
const OPERATIONS_PER_WORLD = 5_000
const OPERATIONS_PER_DATABASE = 100_000
/** From here on everything that can happen must have. */
const OPERATIONS_FOR_ALL_KINDS = 100_000
const OPERATIONS_FOR_EVERYDAY_KINDS = 12_000

/** Returns how often what happened. */
export async function simulate(options: SimulateOptions): Promise<ReadonlyMap<string, number>> {
  const { on, operations } = options
  const tally = new Tally()
  let { seed } = options
  for (let done = 0; done < operations; ) {
    const most = Math.min(operations - done, OPERATIONS_PER_DATABASE)
    const from = done
    const database = on === 'decisions' ? undefined : await openEngineDatabase(on)
    try {
      while (done - from < most) {
        const count = Math.min(most - (done - from), OPERATIONS_PER_WORLD)
        const store = database?.newWorld() ?? new PureStore()
        const world = new Simulation(seed, store, tally)
        const reached = () => `operation ${world.done} of world ${seed}`
        done += await told(on, { seed, count, reached }, () => world.run(count))
        options.progress?.(done, seed)
        seed += 1
      }
      const reached = () => `the verification after ${done} operations`
      await told(on, { seed: options.seed, count: done, reached }, async () => database?.verify())
    } finally {
      await database?.close()
    }
  }
  const wanted =
    operations >= OPERATIONS_FOR_ALL_KINDS
      ? ALL_KINDS
      : operations >= OPERATIONS_FOR_EVERYDAY_KINDS
        ? EVERYDAY_KINDS
        : []
  const missing = tally.missing(wanted)
  if (missing.length > 0) throw new Error(`the simulation never saw: ${missing.join(', ')}`)
  return tally.counts
}

/** A failure says how to see it again. */
async function told<Value>(
  on: SimulateOptions['on'],
  again: { readonly seed: number; readonly count: number; readonly reached: () => string },
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    const how = `SLUICE_SIMULATION_SEED=${again.seed} SLUICE_SIMULATION_OPERATIONS=${again.count}`
    throw new Error(`the simulation failed on ${on} at ${again.reached()}, repeat it with ${how}: ${what}`, {
      cause: error,
    })
  }
}
