/**
 * node tools/fuzz-requests.mjs [--what heads|connections] [--cases 10000000] [--seed 1]
 *
 * `heads` holds what the fast lane reads (`server/src/http/fast-lane`) against llhttp for as long as asked: plain, unusual, spoiled
 * and hostile requests, several on a connection, cut at every kind of place. `connections` plays whole connections: requests that
 * come in pieces, calls that answer or do not, clients that read slowly or vanish. Ends at the first fault, and names its seed.
 */
import { parseArgs } from 'node:util'
import { loadTestProgram } from './project/load-test-program.mjs'

const { values } = parseArgs({
  options: {
    what: { type: 'string', default: 'heads' },
    cases: { type: 'string', default: '10000000' },
    seed: { type: 'string', default: '1' },
  },
})
const say = (text) => process.stdout.write(`${new Date().toISOString()} ${text}\n`)
const FUZZERS = {
  heads: async () => (await loadTestProgram('server/test/fast-lane/fuzz-requests.ts')).fuzzRequests,
  connections: async () =>
    (await loadTestProgram('server/test/fast-lane/fuzz-connections.ts')).fuzzConnections,
}
const load = FUZZERS[values.what]
if (load === undefined) {
  say(`--what is one of ${Object.keys(FUZZERS).join(', ')}`)
  process.exit(2)
}
const fuzz = await load()
try {
  const counts = await fuzz({
    seed: Number(values.seed),
    cases: Number(values.cases),
    progress: (done) => {
      if (done % (values.what === 'heads' ? 500_000 : 20_000) === 0) say(`${done} connections`)
    },
  })
  say(`no fault: ${JSON.stringify(counts)}`)
} catch (error) {
  say(error.stack)
  process.exitCode = 1
}
