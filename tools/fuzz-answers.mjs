/**
 * node tools/fuzz-answers.mjs [--cases 10000000] [--seed 1] [--undici-every 200]
 *
 * Holds the parser of answers (`server/src/upstream/http1`) against llhttp and undici for as long as asked: recorded, spoiled
 * and hostile answers, cut at every kind of place. Ends at the first that is read in two ways, and names its seed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { bundleProgram } from './project/bundle-program.mjs'
import { root } from './project/tree.mjs'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000000' },
    seed: { type: 'string', default: '1' },
    'undici-every': { type: 'string', default: '200' },
  },
})
const say = (text) => process.stdout.write(`${new Date().toISOString()} ${text}\n`)
const { fuzzAnswers } = await load()
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

/** Below `server`, from where its packages are found, and where the recordings are looked for. */
async function load() {
  const folder = mkdtempSync(join(root, 'server/test/upstream/.fuzz-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const outfile = join(folder, 'fuzz-answers.mjs')
  const resolveDir = join(root, 'server/test/upstream')
  await bundleProgram({ entryPoints: [join(resolveDir, 'fuzz-answers.ts')] }, outfile)
  return import(pathToFileURL(outfile).href)
}
