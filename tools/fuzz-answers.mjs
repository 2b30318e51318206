/**
 * node tools/fuzz-answers.mjs [--cases 10000000] [--seed 1] [--undici-every 200]
 *
 * Holds the parser of answers (`server/src/upstream/http1`) against llhttp and undici for as long as asked: recorded, spoiled
 * and hostile answers, cut at every kind of place. Ends at the first that is read in two ways, and names its seed.
 */
import { parseArgs } from 'node:util'
import { loadTestProgram } from './project/load-test-program.mjs'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000000' },
    seed: { type: 'string', default: '1' },
    'undici-every': { type: 'string', default: '200' },
  },
})
const say = (text) => process.stdout.write(`${new Date().toISOString()} ${text}\n`)
const { fuzzAnswers } = await loadTestProgram('server/test/upstream/fuzz-answers.ts')
try {
  const ends = await fuzzAnswers({
    seed: Number(values.seed),
    cases: Number(values.cases),
    undiciEvery: Number(values['undici-every']),
    progress: (done) => {
      if (done % 100_000 === 0) say(`${done} answers`)
    },
  })
  say(`no difference: ${JSON.stringify(ends)}`)
} catch (error) {
  say(error.stack)
  process.exitCode = 1
}
