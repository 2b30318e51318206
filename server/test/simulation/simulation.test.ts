/**
 * Random operations against the naive model: over the decisions alone, and on both engines. SLUICE_SIMULATION_OPERATIONS
 * sets how many each runs, SLUICE_SIMULATION_SEED repeats a failure; `tools/simulate.mjs` runs millions.
 */
import { expect, test } from 'vitest'
import { type SimulateOptions, simulate } from './simulate.ts'

const ASKED = process.env['SLUICE_SIMULATION_OPERATIONS']
const SEED = Number(process.env['SLUICE_SIMULATION_SEED'] ?? 20260101)
const FOREVER = { timeout: 24 * 3_600_000 }

test.each<[string, SimulateOptions['on'], number]>([
  ['the decisions', 'decisions', 30_000],
  ['SQLite, two instances and one that manages', 'sqlite', 12_000],
  ['SQLite, one instance that decides in memory and one process that manages', 'alone', 12_000],
  ['PostgreSQL, two instances and one that manages', 'postgres', 12_000],
])(
  '%s: every balance, window and slot is at each step as the model has it [D-money-14]',
  FOREVER,
  async (_, on, usual) => {
    const operations = ASKED === undefined ? usual : Number(ASKED)
    const seen = await simulate({ on, seed: SEED, operations })
    expect(seen.size).toBeGreaterThan(0)
  },
)
