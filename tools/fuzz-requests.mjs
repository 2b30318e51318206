/**
 * node tools/fuzz-requests.mjs [--cases 10000000] [--seed 1]
 *
 * Holds what the fast lane reads (`server/src/http/fast-lane`) against llhttp for as long as asked: plain, unusual, spoiled and
 * hostile requests, several on a connection, cut at every kind of place. Ends at the first that is read in two ways, and names
 * its seed.
 */
import { parseArgs } from 'node:util'
import { loadTestProgram } from './project/load-test-program.mjs'

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '10000000' }, seed: { type: 'string', default: '1' } },
})
const say = (text) => process.stdout.write(`${new Date().toISOString()} ${text}\n`)
const { fuzzRequests } = await loadTestProgram('server/test/fast-lane/fuzz-requests.ts')
try {
  const counts = fuzzRequests({
    seed: Number(values.seed),
    cases: Number(values.cases),
    progress: (done) => {
      if (done % 500_000 === 0) say(`${done} connections`)
    },
  })
  say(`no difference: ${JSON.stringify(counts)}`)
} catch (error) {
  say(error.stack)
  process.exitCode = 1
}
