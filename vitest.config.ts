import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './tools/project/test-order.mjs'

// Of each thread. Looking again and again through what stays, which is the product, was a quarter of the work of the tests that run in
// this process: young objects get more room (MB, usually 16), old ones are looked through only once there are many, and then in one
// go instead of beside the tests, which need all cores. Alternating runs of a part: a tenth less CPU. Nor does a thread that waits make
// its heap small (3 % of that part's CPU), or forget what it has compiled.
for (const flag of [
  '--max-semi-space-size=64',
  '--initial-old-space-size=600',
  '--heap-growing-percent=300',
  '--no-concurrent-marking',
  '--no-memory-reducer',
  '--no-flush-bytecode',
])
  setFlagsFromString(flag)

export default defineConfig({
  test: {
    include: ['server/{src,test}/**/*.test.ts', 'console/**/*.test.ts', 'tools/**/*.test.mjs'],
    environment: 'node',
    pool: 'threads',
    // Files share what they import: reading the product anew for each costs more than all the tests. No file may leave
    // a global changed behind it.
    isolate: false,
    // Many tests wait for another process or for a clock; meanwhile others have something to do.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: LongestFirst },
    // Bundles the storage worker, and stands ready to start a PostgreSQL and a browser for who needs one.
    globalSetup: [
      'tools/project/vitest-setup.mjs',
      'server/test/postgres/setup.ts',
      'console/test/browser-of-run.ts',
    ],
    // For hangs alone: no test fails because the machine is slow, or busy with something else.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    watch: false,
    reporters: ['default'],
    // A rejected promise nobody waited for is a bug of the gateway, never noise.
    dangerouslyIgnoreUnhandledErrors: false,
  },
})
